/** Implements `aicr verify`: verifies a signed statement against a head, keys and rules. Needs no service and no network. */
import { lstat, readdir, readFile, readlink } from "node:fs/promises"
import { join } from "node:path"
import { Console, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { RuleDigest } from "../domain/Analysis.ts"
import { foldRepo } from "../domain/Change.ts"
import { countUnread } from "../domain/Coverage.ts"
import type { Reason } from "../domain/Reason.ts"
import { digestNames, digestText } from "../domain/RuleDigests.ts"
import { openStatement, readStatementKeys } from "../domain/SignedStatement.ts"
import { VerdictStatement } from "../domain/VerdictStatement.ts"
import { inEnglish } from "../text/en.ts"
import { ExitWith, refused } from "./Exit.ts"
import { exitCodes } from "./ExitCodes.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { count, oneLine } from "./Wording.ts"

const read = (what: string, path: string): Effect.Effect<Buffer, ExitWith> =>
  Effect.tryPromise({
    try: () => readFile(path),
    catch: () => refused(`${what} ${path} cannot be read; name a file that exists`)
  })

const unacceptable = (why: Reason): ExitWith => new ExitWith({ code: exitCodes.problems, message: inEnglish(why) })

/** Returns the text of a file as git has it, which is the target of a link; undefined if there is none. */
const readText = async (path: string): Promise<string | undefined> => {
  try {
    const found = await lstat(path)
    if (found.isSymbolicLink()) return await readlink(path)
    return found.isFile() ? await readFile(path, "utf8") : undefined
  } catch {
    return undefined
  }
}

const listNames = async (folder: string, areFolders: boolean): Promise<ReadonlyArray<string>> => {
  try {
    const found = await readdir(folder, { withFileTypes: true })
    return found.filter((one) => (areFolders ? one.isDirectory() : one.isFile())).map(({ name }) => name)
  } catch {
    return []
  }
}

/** Returns the digest of a rule in a folder, as the service computes it; undefined if there is none. */
const digestAt = async (folder: string, name: string): Promise<string | undefined> => {
  if (name.endsWith("/*/")) return digestNames(await listNames(join(folder, name.slice(0, -2)), true))
  if (name.endsWith("/")) return digestNames(await listNames(join(folder, name), false))
  const text = await readText(join(folder, name))
  return text === undefined ? undefined : digestText(text)
}

const isInside = (name: string): boolean => !name.startsWith("/") && !name.split("/").includes("..")

/** Returns the names of the rules that differ from those in the folder. */
const changedRules = (folder: string, rules: ReadonlyArray<RuleDigest>) =>
  Effect.map(
    Effect.forEach(rules, ({ name, sha256 }) =>
      Effect.map(
        Effect.promise(() => (isInside(name) ? digestAt(folder, name) : Promise.resolve(undefined))),
        (current) => (current === sha256 ? [] : [oneLine(name)])
      )
    ),
    (found) => found.flat()
  )

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(VerdictStatement))

interface Expected {
  readonly head: string
  readonly base: string | undefined
  readonly repository: string | undefined
}

/** Returns the reason for which a statement is about another change. A name of a repository is the same in any case. */
const findMismatch = ({ predicate, subject }: VerdictStatement, expected: Expected): Reason | undefined => {
  const { baseRef = "", head, repository } = predicate
  const digests = Object.values(subject[0].digest)
  if (head !== expected.head || digests.some((digest) => digest !== head))
    return { _tag: "StatementOfOtherHead", head: expected.head, other: head }
  if (expected.repository !== undefined && foldRepo(expected.repository) !== foldRepo(repository))
    return { _tag: "StatementOfOtherRepository", repository: expected.repository, other: oneLine(repository) }
  if (expected.base !== undefined && expected.base !== baseRef)
    return { _tag: "StatementOfOtherBase", base: expected.base, other: oneLine(baseRef) }
  return undefined
}

/** Returns the reason for a verdict about files that no review is stated to have read. */
const findUnnamed = ({ predicate: { carried = [], coverage } }: VerdictStatement): Reason | undefined => {
  const unchanged = coverage.skipped.filter(({ reason }) => reason === "unchanged").length
  const stated = carried.reduce((sum, { files }) => sum + files, 0)
  return unchanged > stated ? { _tag: "StatementReadersUnnamed", count: unchanged - stated } : undefined
}

interface OpenedStatement {
  readonly file: string
  readonly text: string
  readonly statement: VerdictStatement
}

/** Opens a statement that one of the keys has signed. `what` names its file in a message. */
const open = Effect.fnUntraced(function* (
  what: string,
  file: string,
  keys: Parameters<typeof openStatement>[1]
): Effect.fn.Return<OpenedStatement, ExitWith> {
  const opened = openStatement(yield* read(what, file), keys)
  const text = yield* Effect.mapError(Effect.fromResult(opened), unacceptable)
  const statement = Option.getOrUndefined(decode(text))
  if (statement === undefined) return yield* unacceptable({ _tag: "StatementOfOtherKind" })
  return { file, text, statement }
})

/** Returns the reason if an earlier statement is not one that the statement names, or has other inputs than it names. */
const findWrongReader = (
  { predicate: { carried = [] } }: VerdictStatement,
  earlier: ReadonlyArray<OpenedStatement>
): Reason | undefined => {
  for (const { file, statement, text } of earlier) {
    const { head, inputs, run } = statement.predicate
    const sha256 = digestText(text)
    const reader = carried.find((one) => one.statement?.sha256 === sha256)
    if (reader === undefined) return { _tag: "StatementNotCarried", file: oneLine(file) }
    const isSame =
      reader.run === run &&
      reader.head === head &&
      reader.configuration.sha256 === inputs.configuration.sha256 &&
      reader.models.sha256 === inputs.models.sha256
    if (!isSame) return { _tag: "StatementCarriedWrongly", file: oneLine(file) }
  }
  return undefined
}

const verify = Effect.fnUntraced(function* (
  file: string,
  options: Expected & {
    readonly key: string
    readonly rules: string | undefined
    readonly carried: ReadonlyArray<string>
  }
) {
  const keys = readStatementKeys((yield* read("the key file", options.key)).toString("utf8"))
  if (keys === undefined) return yield* refused(`${options.key} holds no public Ed25519 key in PEM`)
  const { statement, text } = yield* open("the statement", file, keys)
  const { findings, inputs, outcome } = statement.predicate
  const mismatch = findMismatch(statement, options) ?? findUnnamed(statement)
  if (mismatch !== undefined) return yield* unacceptable(mismatch)
  const earlier = yield* Effect.forEach(options.carried, (one) => open("the earlier statement", one, keys))
  const wrong = findWrongReader(statement, earlier)
  if (wrong !== undefined) return yield* unacceptable(wrong)
  const changed = options.rules === undefined ? [] : yield* changedRules(options.rules, inputs.rules.files)
  if (changed.length > 0) return yield* unacceptable({ _tag: "StatementOfOlderRules", names: changed })
  if (outcome === "failure") return yield* unacceptable({ _tag: "StatementFails", count: findings.length })
  if (outcome !== "success") return yield* unacceptable({ _tag: "StatementInconclusive", outcome })
  return { statement, text }
})

const list = (names: ReadonlyArray<string>): string => (names.length === 0 ? "no model" : oneLine(names.join(", ")))

const summary = ({ predicate }: VerdictStatement): string => {
  const { carried = [], coverage, findings, head, repository, shadow, time } = predicate
  const unread = countUnread({ ...coverage, unnamed: undefined }) + (coverage.unnamed?.unread ?? 0)
  const rest = unread === 0 ? "" : `, ${count(unread, "file")} not read in full`
  const notBlind = coverage.notBlind === undefined ? "" : `, ${count(coverage.notBlind.length, "file")} not read blind`
  const unpublished = shadow === true ? ", not published" : ""
  const readers = carried.map(
    ({ files, models, run }) => `\n${count(files, "file")} read by run ${oneLine(run)} with ${list(models.names)}`
  )
  return `Verified: ${oneLine(repository)} at ${head} passes (${count(findings.length, "finding")}${rest}${notBlind}${unpublished}; ${time}).${readers.join("")}`
}

export const verifyCommand = Command.make(
  "verify",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("Signed statement, as the service returned it")),
    head: Flag.String("head").pipe(
      Flag.withMetavar("COMMIT"),
      Flag.withDescription("Full id of the commit that the statement has to be about")
    ),
    key: Flag.String("key").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Public keys that are trusted, in PEM, one or several")
    ),
    repository: Flag.String("repository").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Full name of the repository; refuses a statement about the same commit of another one"),
      Flag.optional
    ),
    base: Flag.String("base").pipe(
      Flag.withMetavar("BRANCH"),
      Flag.withDescription("Branch to merge into; refuses a review of the commit against another one"),
      Flag.optional
    ),
    rules: Flag.String("rules").pipe(
      Flag.withMetavar("FOLDER"),
      Flag.withDescription("Files of the branch that the rules are from; refuses a review with other rules"),
      Flag.optional
    ),
    carried: Flag.String("carried").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Signed statement of an earlier review that read files of this one; may be repeated"),
      Flag.atLeast(0)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ base, carried, file, head, json, key, repository, rules }) {
    const { statement, text } = yield* verify(file, {
      head,
      key,
      base: Option.getOrUndefined(base),
      repository: Option.getOrUndefined(repository),
      rules: Option.getOrUndefined(rules),
      carried
    })
    yield* Console.log(json ? text : summary(statement))
  })
).pipe(
  Command.withDescription(
    "Verify a signed statement: exit code 0 only if a trusted key signed it, it is about the commit, and its verdict is a success. Needs no service and no network"
  ),
  Command.withExamples([
    {
      command: "aicr verify statement.json --head 1f0c2e9a7b6d5c4e3f2a1b0c9d8e7f6a5b4c3d2e --key aicr.pub",
      description: "Whether this commit passed the review"
    },
    {
      command:
        'aicr verify statement.json --head "$HEAD" --key aicr.pub --repository acme/app --base main --rules main',
      description:
        "Also refuse a review for another repository or branch, or with rules that the folder main has in another version"
    }
  ])
)
