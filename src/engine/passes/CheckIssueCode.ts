/**
 * Finds out which code of open managed issues is gone from its file at the head. Files are read from the checkout: that costs no
 * request to a git host, works for all version control systems, and the result is stored with the analysis.
 *
 * | the file at the head | the code | result |
 * |---|---|---|
 * | readable | not in it | gone |
 * | readable | in it | stays open |
 * | binary, too large, beyond the limits below | | stays open |
 * | missing; the change renames it, or adds a file with the code | | decided by that file; moved if the code is in it |
 * | missing otherwise; removed by the change, or the change is a pull request | | gone |
 * | missing otherwise | | stays open: a change that was not reviewed may have renamed it |
 */
import { createHash } from "node:crypto"
import { posix } from "node:path"
import { Effect } from "effect"
import { issueCodeKey } from "../../domain/IssueCode.ts"
import type { CheckedCode, IssueCode } from "../../domain/IssueCode.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"

type Files = Pick<Checkout, "file" | "list" | "head">

export interface IssueCodeInput {
  readonly codes: ReadonlyArray<IssueCode>
  /** The checkout itself, because the record of what the models read does not contain these files. */
  readonly files: Files
  /** True if the change contains all differences between the branch and its base, as a pull request does. */
  readonly isWhole: boolean
}

/** Maximum number of files of issues that are read for one review: first those that the change touches. */
const maxFiles = 50
/** Maximum number of those that the change does not touch; which of them are read depends on the head. */
const maxUntouched = 20
/** Maximum number of added files in which the code of missing files is searched for. */
const maxAdded = 50
const maxBytes = 1_048_576
/** A directory with more files is not searched for a missing one. */
const maxListed = 10_000

type Checks<A> = Effect.Effect<A, CheckoutError | AnalysisError>

/** Returns the files to read: those that change, and a selection of the others that differs with each head. */
const filesToRead = (
  head: string,
  files: ReadonlyArray<string>,
  changed: ReadonlySet<string>
): ReadonlyArray<string> => {
  const order = (path: string) => createHash("sha256").update(`${head}\n${path}`).digest("hex")
  const others = files
    .filter((path) => !changed.has(path))
    .map((path) => ({ path, at: order(path) }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .slice(0, maxUntouched)
  return [...files.filter((path) => changed.has(path)), ...others.map(({ path }) => path)].slice(0, maxFiles)
}

/** Returns whether the head lacks the file; false if that is unknown. */
const isMissing = (checkout: Files, path: string): Checks<boolean> => {
  const directory = posix.dirname(path)
  return Effect.map(
    checkout.list(directory === "." ? "" : directory, "head", maxListed),
    (names) => names.length < maxListed && !names.includes(posix.basename(path))
  )
}

/** Splits the codes of one file by what this text of it ends. Code without a key is never ended by a text. */
const split = Effect.fnUntraced(function* (change: ChangeThread, text: string, codes: ReadonlyArray<IssueCode>) {
  const ended = yield* change.run(
    "endedKeys",
    text,
    codes.map(({ code }) => code ?? "")
  )
  return { gone: codes.filter((_, at) => ended[at]), open: codes.filter((_, at) => ended[at] !== true) }
})

const asGone = (codes: ReadonlyArray<IssueCode>): ReadonlyArray<CheckedCode> =>
  codes.map((code) => ({ ...code, state: "gone" }))
const asMoved = (codes: ReadonlyArray<IssueCode>, to: string): ReadonlyArray<CheckedCode> =>
  codes.map((code) => ({ ...code, state: "moved", to }))

const checkCodes = Effect.fnUntraced(function* (
  change: ChangeThread,
  { codes, files: checkout, isWhole }: IssueCodeInput
): Effect.fn.Return<ReadonlyArray<CheckedCode>, CheckoutError | AnalysisError> {
  const distinct = [...new Map(codes.map((code) => [issueCodeKey(code), code])).values()]
  const byFile = Map.groupBy(distinct, ({ file }) => file)
  const { added, changed, removed, renamed } = yield* change.run("issuePaths", [...byFile.keys()], maxAdded)
  const newPaths = new Map(renamed)
  const read = new Map<string, string | undefined>()
  const texts = Effect.fnUntraced(function* (path: string): Effect.fn.Return<string | undefined, CheckoutError> {
    if (!read.has(path)) read.set(path, yield* checkout.file(path, "head", maxBytes))
    return read.get(path)
  })

  /** Looks for the code of a missing file in the files that the change adds. */
  const findAdded = Effect.fnUntraced(function* (missing: ReadonlyArray<IssueCode>) {
    const checked: Array<CheckedCode> = []
    let rest = missing
    for (const path of added ?? []) {
      if (rest.length === 0) break
      const text = yield* texts(path)
      if (text === undefined) continue
      const keys = rest.map(({ code }) => code ?? "")
      const held = yield* change.run("heldKeys", text, keys)
      checked.push(
        ...asMoved(
          rest.filter((_, at) => held[at]),
          path
        )
      )
      rest = rest.filter((_, at) => held[at] !== true)
    }
    return { checked, rest }
  })

  const ofMissing = Effect.fnUntraced(function* (path: string, own: ReadonlyArray<IssueCode>) {
    const to = newPaths.get(path)
    if (to !== undefined) {
      const text = yield* texts(to)
      if (text === undefined) return asMoved(own, to)
      const { gone, open } = yield* split(change, text, own)
      return [...asGone(gone), ...asMoved(open, to)]
    }
    const isExplained = removed.includes(path) || isWhole
    if (added === undefined || !isExplained) return []
    const { checked, rest } = yield* findAdded(own)
    return [...checked, ...asGone(rest)]
  })

  const ofFile = Effect.fnUntraced(function* (path: string) {
    const own = byFile.get(path) ?? []
    const text = yield* texts(path)
    if (text !== undefined) return asGone((yield* split(change, text, own)).gone)
    return (yield* isMissing(checkout, path)) ? yield* ofMissing(path, own) : []
  })

  const files = filesToRead(checkout.head, [...byFile.keys()], new Set(changed))
  const checked = (yield* Effect.forEach(files, ofFile)).flat()
  yield* Effect.logInfo("code of managed issues checked", {
    problems: distinct.length,
    files: files.length,
    unread_files: byFile.size - files.length,
    gone: checked.filter(({ state }) => state === "gone").length,
    moved: checked.filter(({ state }) => state === "moved").length
  })
  return checked
})

/** Returns what is gone or moved. Files that cannot be read delay this until the next review. */
export const checkIssueCode = (
  change: ChangeThread,
  input: IssueCodeInput | undefined
): Effect.Effect<ReadonlyArray<CheckedCode>, AnalysisError> =>
  input === undefined || input.codes.length === 0
    ? Effect.succeed([])
    : checkCodes(change, input).pipe(
        Effect.withSpan("checkIssueCode"),
        Effect.catchTag("CheckoutError", ({ message }) =>
          Effect.as(Effect.logWarning("code of managed issues not checked", { error: message }), [])
        )
      )
