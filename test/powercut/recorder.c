/*
 * Preloaded into a process, it writes down everything that reaches the files of one folder, in the order in which it
 * happened: POWERCUT_FOLDER is the folder, POWERCUT_RECORD the file of the record.
 *
 * An entry is a line "<op> <name> <offset> <length>\n" and, for W, so many bytes:
 *   W write   T truncate (offset is the new size)   S sync   U unlink   R rename (length bytes: the new name)
 *   D sync of the folder itself
 *
 * Not recorded, on purpose: the -shm file. It is shared memory that SQLite makes again from the write-ahead log when a
 * file is first opened, so nothing that is lost with it was ever promised. Nor mmap'ed writes of other files: the store
 * leaves SQLite's mmap_size at 0, so there are none.
 *
 * With POWERCUT_SYNC=lie every sync answers "done" and does nothing, as a disk with a bad write cache would.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folder;
static size_t folder_length;
static int record = -1;
static int lies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);

static void *find(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "powercut recorder: no %s\n", name);
    abort();
  }
  return found;
}

__attribute__((constructor)) static void begin(void) {
  real_write = find("write");
  real_writev = find("writev");
  real_pwrite = find("pwrite64");
  real_pwritev = find("pwritev64");
  real_ftruncate = find("ftruncate64");
  real_fsync = find("fsync");
  real_fdatasync = find("fdatasync");
  real_unlink = find("unlink");
  real_rename = find("rename");
  folder = getenv("POWERCUT_FOLDER");
  const char *path = getenv("POWERCUT_RECORD");
  const char *sync = getenv("POWERCUT_SYNC");
  lies = sync != NULL && strcmp(sync, "lie") == 0;
  if (folder == NULL || path == NULL) return;
  folder_length = strlen(folder);
  record = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (record < 0) abort();
}

/* The name of a path inside the folder; "" for the folder itself; NULL for anything else. */
static const char *name_of(const char *path) {
  if (record < 0 || strncmp(path, folder, folder_length) != 0) return NULL;
  if (path[folder_length] == 0) return path + folder_length;
  if (path[folder_length] != '/') return NULL;
  const char *name = path + folder_length + 1;
  size_t length = strlen(name);
  return length > 4 && strcmp(name + length - 4, "-shm") == 0 ? NULL : name;
}

static const char *name_of_open(int file, char path[PATH_MAX]) {
  char link[64];
  if (record < 0 || file == record) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  return name_of(path);
}

static void note(const char *op, const char *name, off_t offset, const void *data, size_t length) {
  char head[PATH_MAX + 64];
  int size = snprintf(head, sizeof head, "%s %s %lld %zu\n", op, name, (long long)offset, length);
  /* In one call, so that the record has whole entries only, wherever the process ends. */
  struct iovec parts[2] = {{head, (size_t)size}, {(void *)data, length}};
  pthread_mutex_lock(&lock);
  if (real_writev(record, parts, data == NULL ? 1 : 2) != size + (ssize_t)(data == NULL ? 0 : length)) abort();
  pthread_mutex_unlock(&lock);
}

static void note_vector(const char *name, off_t offset, const struct iovec *parts, int count, size_t written) {
  for (int at = 0; at < count && written > 0; at++) {
    size_t length = parts[at].iov_len < written ? parts[at].iov_len : written;
    note("W", name, offset, parts[at].iov_base, length);
    offset += (off_t)length;
    written -= length;
  }
}

ssize_t pwrite64(int file, const void *data, size_t length, off_t offset) {
  ssize_t written = real_pwrite(file, data, length, offset);
  char path[PATH_MAX];
  const char *name = written > 0 ? name_of_open(file, path) : NULL;
  if (name != NULL) note("W", name, offset, data, (size_t)written);
  return written;
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return pwrite64(file, data, length, offset); }

ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t offset) {
  ssize_t written = real_pwritev(file, parts, count, offset);
  char path[PATH_MAX];
  const char *name = written > 0 ? name_of_open(file, path) : NULL;
  if (name != NULL) note_vector(name, offset, parts, count, (size_t)written);
  return written;
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(file, parts, count, offset);
}

ssize_t write(int file, const void *data, size_t length) {
  char path[PATH_MAX];
  const char *name = name_of_open(file, path);
  if (name == NULL) return real_write(file, data, length);
  ssize_t written = real_write(file, data, length);
  if (written > 0) note("W", name, lseek(file, 0, SEEK_CUR) - written, data, (size_t)written);
  return written;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  const char *name = name_of_open(file, path);
  ssize_t written = real_writev(file, parts, count);
  if (name != NULL && written > 0) {
    note_vector(name, lseek(file, 0, SEEK_CUR) - written, parts, count, (size_t)written);
  }
  return written;
}

int ftruncate64(int file, off_t size) {
  int result = real_ftruncate(file, size);
  char path[PATH_MAX];
  const char *name = result == 0 ? name_of_open(file, path) : NULL;
  if (name != NULL) note("T", name, size, NULL, 0);
  return result;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

static int synced(int file, int (*real)(int)) {
  char path[PATH_MAX];
  const char *name = name_of_open(file, path);
  if (name != NULL && lies) return 0;
  int result = real(file);
  if (name != NULL && result == 0) note(name[0] == 0 ? "D" : "S", name, 0, NULL, 0);
  return result;
}

int fsync(int file) { return synced(file, real_fsync); }

int fdatasync(int file) { return synced(file, real_fdatasync); }

int unlink(const char *path) {
  int result = real_unlink(path);
  const char *name = result == 0 ? name_of(path) : NULL;
  if (name != NULL) note("U", name, 0, NULL, 0);
  return result;
}

int rename(const char *from, const char *to) {
  int result = real_rename(from, to);
  const char *name = result == 0 ? name_of(from) : NULL;
  const char *renamed = result == 0 ? name_of(to) : NULL;
  if (name != NULL && renamed != NULL) note("R", name, 0, renamed, strlen(renamed));
  return result;
}
