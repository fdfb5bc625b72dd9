import type { Hono } from "hono";
import type { Html } from "../html.ts";
import type { PageProblem } from "../session.ts";
import { readForm } from "./forms.ts";
import { Csrf, Head, Notice } from "./frame.tsx";
import { type PageKit, type View, viewOf } from "./kit.ts";
import { reply } from "./reply.tsx";
import { localPath, setTheme } from "./theme.ts";

/** Signing in and out, and the choice of a theme. */
export function signInRoutes(app: Hono, kit: PageKit): void {
  app.get("/sign-in", async (c) => {
    const view = await viewOf(kit, c);
    const next = localPath(c.req.query("next"));
    // A link alone signs nobody in: previews of mail programs open links, and they send no forms.
    return reply(c, view, "Sign in", <SignIn view={view} next={next} token={c.req.query("token") ?? ""} />);
  });
  app.post("/sign-in", async (c) => {
    const field = await readForm(kit, c);
    const next = localPath(field("next"));
    const outcome = await kit.session.signIn(c, field("token").trim());
    if (outcome.ok) {
      return c.redirect(next, 303);
    }
    const view = await viewOf(kit, c);
    const body = <SignIn view={view} next={next} token="" problem={outcome.problem} />;
    return reply(c, view, "Sign in", body, outcome.problem.status);
  });
  app.post("/sign-out", async (c) => {
    await readForm(kit, c);
    await kit.session.signOut(c);
    return c.redirect("/sign-in", 303);
  });
  app.post("/theme", async (c) => {
    const field = await readForm(kit, c);
    setTheme(c, field("theme"));
    return c.redirect(localPath(field("from")), 303);
  });
}

function SignIn(props: {
  readonly view: View;
  readonly next: string;
  readonly token: string;
  readonly problem?: PageProblem;
}): Html {
  const { view, next, token, problem } = props;
  return (
    <div class="narrow">
      <Head title="Sign in" />
      {problem === undefined ? "" : <Notice tone="bad" title={problem.detail} />}
      {view.me === undefined ? "" : <Notice tone="info" title={`You are signed in as ${view.me.person.name}.`} />}
      <form class="panel stack" method="post" action="/sign-in">
        <Csrf view={view} />
        <input type="hidden" name="next" value={next} />
        <label for="token">Sign-in token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          maxlength={256}
          value={token}
          aria-describedby="token-help"
        />
        <p id="token-help" class="soft">
          {token === ""
            ? "It is the part of your sign-in link after “token=”. The operator makes one with belay people add."
            : "Your link has filled this in."}
        </p>
        <div>
          <button class="primary" type="submit">
            Sign in
          </button>
        </div>
      </form>
    </div>
  );
}
