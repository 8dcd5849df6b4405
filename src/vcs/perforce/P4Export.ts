/**
 * Writes the files of a branch into a folder. Their sizes are known before anything is transferred. One command writes all of them, unless
 * a file has the path of something below a link, through which it would be written.
 */
import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Option } from "effect"
import { hasProperty } from "effect/Predicate"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { runWithinGrowth } from "../server/GrowthLimit.ts"
import { isProper } from "../server/SourceCheckout.ts"
import { listSizes, readContent } from "./P4Files.ts"
import type { ListedFile } from "./P4Files.ts"
import { belowDepot } from "./P4Path.ts"
import { runP4 } from "./P4Process.ts"
import type { P4Session } from "./P4Session.ts"
import { shownText } from "./RawText.ts"
import { isSymlink, isUtf16 } from "./P4Types.ts"

const maxFiles = 200_000
const processes = 4
/** Files that are transferred one by one; more are transferred by one command. */
const maxSingle = 20

const tooLarge = (bytes: number, maxBytes: number) =>
  new CheckoutError({
    reason: "limit",
    why: {
      _tag: "FilesOverSize",
      limit: Math.floor(maxBytes / 1_048_576),
      size: Math.floor(bytes / 1_048_576)
    }
  })

export const exportBranch = Effect.fnUntraced(function* (
  session: P4Session,
  branch: string,
  at: string,
  fold: boolean,
  folder: string,
  maxBytes: number
): Effect.fn.Return<void, CheckoutError> {
  const files: Array<{ readonly path: string; readonly file: ListedFile }> = []
  let bytes = 0
  const stopped = yield* listSizes(session, `${branch}/...@${at}`, (file) => {
    const path = belowDepot(branch, file.depotFile, fold)
    if (path === undefined || !isProper(path)) return false
    files.push({ path, file })
    bytes += file.bytes ?? 0
    return bytes > maxBytes || files.length > maxFiles
  })
  if (bytes > maxBytes) return yield* tooLarge(bytes, maxBytes)
  if (stopped) {
    return yield* new CheckoutError({ reason: "limit", why: { _tag: "TooManyFiles", path: branch, count: maxFiles } })
  }
  const links = new Set(files.filter(({ file }) => isSymlink(file.type)).map(({ path }) => path))
  const plain = files.filter(({ path }) => !links.has(path))
  const isSafe = !files.some(({ path }) => listFolders(path).some((parent) => links.has(parent)))
  const single = plain.length <= maxSingle || !isSafe ? plain : plain.filter(({ file }) => isUtf16(file.type))
  if (single.length < plain.length) yield* exportAll(session, `${branch}/...@${at}`, folder, maxBytes)
  yield* Effect.forEach(single, ({ file, path }) => exportOne(session, folder, path, file, maxBytes), {
    concurrency: processes,
    discard: true
  })
})

const listFolders = (path: string): ReadonlyArray<string> => {
  const parts = path.split("/")
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"))
}

/** Files that the server refuses, such as ones whose contents it has lost, are not exported. */
const withoutRefused =
  (spec: string) =>
  <A>(effect: Effect.Effect<A, CheckoutError>): Effect.Effect<A | undefined, CheckoutError> =>
    Effect.catchIf(
      effect,
      ({ reason }) => reason === "failed",
      ({ message }) =>
        Effect.as(Effect.logWarning("files not exported", { files: shownText(spec), error: message }), undefined)
    )

const exportAll = Effect.fnUntraced(function* (session: P4Session, spec: string, folder: string, maxBytes: number) {
  const exporting = runP4(
    session,
    () => ["print", "-q", session.modes.keywords, "-o", `${folder}/...`, spec],
    folder
  ).pipe(withoutRefused(spec))
  const over = yield* runWithinGrowth(exporting, folder, maxBytes)
  const bytes = Option.getOrElse(over, () => 0)
  if (bytes > maxBytes) return yield* tooLarge(bytes, maxBytes)
})

/** Writes one file; a path below another file is skipped. */
export const exportOne = Effect.fnUntraced(function* (
  session: P4Session,
  folder: string,
  path: string,
  file: ListedFile,
  maxBytes: number
) {
  const content = yield* readContent(session, file, Math.min(maxBytes, 2 * (file.bytes ?? 0) + 65_536)).pipe(
    withoutRefused(file.spec)
  )
  if (content === undefined) return
  yield* io("export", async () => {
    const target = join(folder, path)
    try {
      await mkdir(dirname(target), { recursive: true })
      await rm(target, { force: true })
      await writeFile(target, content)
    } catch (cause) {
      if (!hasProperty(cause, "code") || !isOccupied(cause.code)) throw cause
    }
  })
})

/** A depot may have a file with the path of a folder. */
const isOccupied = (code: unknown): boolean =>
  code === "ENOTDIR" || code === "EEXIST" || code === "EISDIR" || code === "ERR_FS_EISDIR"
