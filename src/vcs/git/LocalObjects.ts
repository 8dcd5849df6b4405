/**
 * A local repository needs no fetch: the mirror uses its objects. Only objects and the list of shallow commits are shared;
 * configuration, hooks, attributes and refs of that repository have no effect.
 */
import { copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { isAbsolute, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { io } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { formatOfRepository } from "./ObjectFormat.ts"
import type { ObjectFormat } from "./ObjectFormat.ts"

/** Returns the path of a local clone URL; undefined for remote ones. */
export const localPath = (url: string): string | undefined => {
  if (isAbsolute(url)) return url
  return url.startsWith("file://") && URL.canParse(url) ? fileURLToPath(new URL(url)) : undefined
}

/** Returns the object format of a local repository. */
export const localFormat = Effect.fnUntraced(function* (path: string): Effect.fn.Return<ObjectFormat, CheckoutError> {
  const repository = yield* io("local repository", () => commonDirectory(path))
  const format =
    repository === undefined ? undefined : yield* io("local repository", () => formatOfRepository(repository))
  if (format !== undefined) return format
  return yield* new CheckoutError({ reason: "missing", why: { _tag: "NotGitRepository", path } })
})

export const borrowObjects = Effect.fnUntraced(function* (
  mirror: Mirror,
  path: string
): Effect.fn.Return<void, CheckoutError> {
  const repository = yield* io("local repository", () => commonDirectory(path))
  if (repository === undefined) {
    return yield* new CheckoutError({ reason: "missing", why: { _tag: "NotGitRepository", path } })
  }
  yield* mirror.exclusive(
    io("local repository", async () => {
      await mkdir(join(mirror.directory, "objects", "info"), { recursive: true })
      const alternates = join(mirror.directory, "objects", "info", "alternates")
      const borrowed = `${join(repository, "objects")}\n`
      // Correct files are not rewritten, because readers do not acquire the lock.
      if ((await readFile(alternates, "utf8").catch(() => "")) !== borrowed) await writeFile(alternates, borrowed)
      const shallow = join(mirror.directory, "shallow")
      await copyFile(join(repository, "shallow"), shallow).catch(async (cause: unknown) => {
        if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause
        await rm(shallow, { force: true })
      })
    })
  )
})

/** Returns the folder of objects and refs of a work tree, a linked work tree or a bare repository. */
const commonDirectory = async (path: string): Promise<string | undefined> => {
  const dotGit = join(path, ".git")
  const kind = await stat(dotGit).catch(() => undefined)
  if (kind?.isDirectory()) return dotGit
  if (kind?.isFile()) {
    const target = /^gitdir: (.+)$/m.exec(await readFile(dotGit, "utf8"))?.[1]
    if (target === undefined) return undefined
    const own = resolve(path, target)
    const common = await readFile(join(own, "commondir"), "utf8").catch(() => ".")
    return resolve(own, common.trim())
  }
  const objects = await stat(join(path, "objects")).catch(() => undefined)
  return objects?.isDirectory() ? path : undefined
}
