/** Reads lists, sizes and contents of file revisions. */
import { createHash } from "node:crypto"
import { lstat, readFile, readlink, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { newMark } from "../ProcessMark.ts"
import { readP4, runP4 } from "./P4Process.ts"
import type { P4Session } from "./P4Session.ts"
import { hasContent, isBinary, isUtf16, toUtf8 } from "./P4Types.ts"
import type { P4Revision } from "./P4Types.ts"
import { shownText, toBytes } from "./RawText.ts"

/** A revision of a list. */
export interface ListedFile extends P4Revision {
  readonly action: string
}

/** Files of one command. */
const filesAtOnce = 500
/** Processes of one checkout that read contents. */
const processes = 4
/** A file may be larger than its size on the server, when its encoding is converted. */
const slack = 65_536
/** Assumed size of a file whose size the server does not list. */
const unknownBytes = 8_388_608

type Record_ = Readonly<Record<string, string>>

const toListed = (record: Record_): ListedFile | undefined => {
  const { depotFile, digest } = record
  if (depotFile === undefined) return undefined
  const rev = record["headRev"] ?? record["rev"]
  const bytes = record["fileSize"]
  return {
    depotFile,
    spec: `${depotFile}#${rev ?? "head"}`,
    action: record["headAction"] ?? record["action"] ?? "edit",
    type: record["headType"] ?? record["type"] ?? "text",
    bytes: bytes === undefined || !/^\d+$/.test(bytes) ? undefined : Number(bytes),
    digest
  }
}

/** Lists the newest revision of each file that was changed in a range; stops after `limit`. Returns whether it did. */
export const listFiles = Effect.fnUntraced(function* (
  session: P4Session,
  spec: string,
  limit: number
): Effect.fn.Return<{ readonly files: ReadonlyArray<ListedFile>; readonly more: boolean }, CheckoutError> {
  const files: Array<ListedFile> = []
  const more = yield* readP4(
    session,
    { args: ["files", spec] },
    {
      record: (record) => {
        const file = toListed(record)
        return file !== undefined && files.push(file) > limit
      }
    }
  )
  return { files, more }
})

const fields = "depotFile,headAction,headType,headRev,fileSize,digest"

/** Lists files with their sizes, without deleted ones. `visit` returns true to stop. */
export const listSizes = (
  session: P4Session,
  spec: string,
  visit: (file: ListedFile) => boolean | void
): Effect.Effect<boolean, CheckoutError> =>
  readP4(
    session,
    { args: ["fstat", "-Ol", "-T", fields, spec] },
    {
      record: (record) => {
        const file = toListed(record)
        return file !== undefined && isReadable(file) && visit(file)
      }
    }
  )

const isReadable = ({ action }: ListedFile): boolean => !action.endsWith("delete")

/** Finds revisions by their specs, in any order; those that do not exist are missing. */
export const findRevisions = Effect.fnUntraced(function* (
  session: P4Session,
  specs: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<ListedFile>, CheckoutError> {
  const found: Array<ListedFile> = []
  for (let at = 0; at < specs.length; at += filesAtOnce) {
    yield* readP4(
      session,
      { args: ["fstat", "-Ol", "-T", fields], files: specs.slice(at, at + filesAtOnce) },
      {
        record: (record) => {
          const file = toListed(record)
          if (file !== undefined) found.push(file)
        }
      }
    )
  }
  return found
})

/**
 * Content of a file of which only the name is reviewed: data, so that nothing takes it for text. Different contents have different ones.
 */
const placeholder = ({ digest, spec }: P4Revision): Buffer =>
  Buffer.concat([
    Buffer.alloc(64),
    createHash("sha256")
      .update(digest ?? toBytes(spec))
      .digest()
  ])

/**
 * Reads one revision; undefined if it does not exist or is larger. Keywords are expanded only on request, which gives the text of a file in a
 * workspace. Links are their targets.
 */
export const readContent = Effect.fnUntraced(function* (
  session: P4Session,
  { spec, type }: P4Revision,
  maxBytes: number,
  expanded = false
): Effect.fn.Return<Buffer | undefined, CheckoutError> {
  const path = join(session.folder, newMark())
  return yield* runP4(session, () => [
    "print",
    "-q",
    ...(expanded ? [] : [session.modes.keywords]),
    "-o",
    path,
    spec
  ]).pipe(
    Effect.andThen(
      io("print", async () => {
        const found = await lstat(path).catch(() => undefined)
        if (found === undefined) return undefined
        if (found.isSymbolicLink()) return Buffer.from(await readlink(path))
        if (!found.isFile() || found.size > maxBytes) return undefined
        const content = await readFile(path)
        return isUtf16(type) ? toUtf8(content) : content
      })
    ),
    Effect.ensuring(Effect.promise(() => rm(path, { force: true }).catch(() => {})))
  )
})

/**
 * Reads revisions; `keep` gets the content of each that exists with its index. Binary files are not transferred. One that cannot be read, because
 * it vanished or is larger than the server lists, does not end the review of the others.
 */
export const readContents = Effect.fnUntraced(function* (
  session: P4Session,
  revisions: ReadonlyArray<ListedFile | undefined>,
  keep: (index: number, content: Uint8Array) => Effect.Effect<void, CheckoutError>
): Effect.fn.Return<void, CheckoutError> {
  let read = 0
  let failure: CheckoutError | undefined
  const readOne = (revision: ListedFile) =>
    readContent(session, revision, 2 * (revision.bytes ?? unknownBytes) + slack).pipe(
      Effect.tap((content) => Effect.sync(() => (read += content === undefined ? 0 : 1))),
      // The server refuses this file alone.
      Effect.catchIf(
        ({ reason }) => reason === "failed" || reason === "missing",
        (error) =>
          Effect.as(
            Effect.sync(() => (failure ??= error)),
            undefined
          )
      )
    )
  yield* Effect.forEach(
    revisions,
    Effect.fnUntraced(function* (revision, index) {
      if (revision === undefined) return
      if (isBinary(revision.type) || !hasContent(revision.action)) return yield* keep(index, placeholder(revision))
      const content = yield* readOne(revision)
      if (content === undefined) {
        yield* Effect.logWarning("file not read, its name alone is reviewed", { file: shownText(revision.spec) })
        return yield* keep(index, placeholder(revision))
      }
      yield* keep(index, content)
    }),
    { concurrency: processes, discard: true }
  )
  if (read === 0 && failure !== undefined) return yield* failure
})
