import type { Child } from "hono/jsx";
import { assetUrl } from "../assets/index.ts";
import type { Html } from "../html.ts";
import { plainLine } from "../show/code-points.ts";
import { type View, WAITING_SHOWN_MAX } from "./kit.ts";
import type { Theme } from "./theme.ts";

const SECTIONS = [
  { path: "/", name: "Overview" },
  { path: "/chat", name: "Chat" },
  { path: "/approvals", name: "Approvals" },
  { path: "/runs", name: "Runs" },
  { path: "/audit", name: "Audit" },
  { path: "/evaluations", name: "Evaluations" },
] as const;

const THEMES: readonly { readonly id: Theme; readonly name: string }[] = [
  { id: "system", name: "Auto" },
  { id: "light", name: "Light" },
  { id: "dark", name: "Dark" },
];

/** The frame of every page. */
export function Frame(props: { readonly view: View; readonly title: string; readonly children?: Child }): Html {
  const { view, title, children } = props;
  return (
    <html lang="en" {...(view.theme === "system" ? {} : { "data-theme": view.theme })}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{plainLine(title, 80)} · Belay</title>
        <link rel="stylesheet" href={assetUrl("console.css")} />
        <link rel="icon" type="image/svg+xml" href={assetUrl("icon.svg")} />
        <script src={assetUrl("clocks.js")} defer></script>
        <script src={assetUrl("live.js")} defer></script>
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <div class={view.me === undefined ? "frame alone" : "frame"}>
          <header class="side">
            <a class="mark" href="/">
              Belay
            </a>
            {view.me === undefined ? "" : <Sections view={view} />}
            <div class="side-end">
              {view.me === undefined ? "" : <Me view={view} />}
              {view.csrf.token === "" ? "" : <ThemeForm view={view} />}
            </div>
          </header>
          <main id="main" tabindex={-1}>
            {children}
          </main>
        </div>
      </body>
    </html>
  );
}

function Sections(props: { readonly view: View }): Html {
  const { here, waiting } = props.view;
  const [path = "/"] = here.split("?");
  return (
    <nav aria-label="Sections">
      <ul>
        {SECTIONS.map((section) => {
          const isHere =
            section.path === "/" ? path === "/" : path === section.path || path.startsWith(`${section.path}/`);
          return (
            <li>
              <a href={section.path} {...(isHere ? { "aria-current": "page" as const } : {})}>
                {section.name}
                {section.path === "/approvals" && waiting > 0 ? (
                  <span class="count">
                    {waiting > WAITING_SHOWN_MAX ? `${WAITING_SHOWN_MAX}+` : waiting}
                    <span class="unseen"> waiting</span>
                  </span>
                ) : (
                  ""
                )}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function Me(props: { readonly view: View }): Html {
  const { me } = props.view;
  return (
    <form class="me" method="post" action="/sign-out">
      <Csrf view={props.view} />
      <div>
        <strong>{plainLine(me?.person.name ?? "", 40)}</strong>
        <div class="soft">{me?.person.roles.join(", ")}</div>
      </div>
      <button class="plain" type="submit">
        Sign out
      </button>
    </form>
  );
}

function ThemeForm(props: { readonly view: View }): Html {
  const { view } = props;
  return (
    <form class="themes" method="post" action="/theme">
      <Csrf view={view} />
      <input type="hidden" name="from" value={view.here} />
      <fieldset>
        <legend class="unseen">Theme</legend>
        {THEMES.map(({ id, name }) => (
          <button type="submit" name="theme" value={id} aria-pressed={view.theme === id ? "true" : "false"}>
            {name}
          </button>
        ))}
      </fieldset>
    </form>
  );
}

/** The hidden field that every form of a page carries. */
export function Csrf(props: { readonly view: View }): Html {
  return <input type="hidden" name={props.view.csrf.field} value={props.view.csrf.token} />;
}

/** The heading of a page, with what stands beside it. */
export function Head(props: { readonly title: string; readonly children?: Child }): Html {
  return (
    <div class="head">
      <h1>{plainLine(props.title, 120)}</h1>
      {props.children}
    </div>
  );
}

/** A titled part of a page. */
export function Panel(props: { readonly title: string; readonly id: string; readonly children?: Child }): Html {
  return (
    <section class="panel" aria-labelledby={props.id}>
      <h2 id={props.id}>{props.title}</h2>
      {props.children}
    </section>
  );
}

/** A few words about what has just happened or is the matter. */
export function Notice(props: {
  readonly tone: "good" | "wait" | "bad" | "info";
  readonly title: string;
  readonly children?: Child;
}): Html {
  const { tone, title, children } = props;
  return (
    <div class={`notice edge-${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}
