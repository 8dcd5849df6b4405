/**
 * Runs svn without prompts, and reads its output. The password goes to standard input, or into the store of the session. Externals are followed by no command.
 */
import { Effect, Redacted, Semaphore } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { limitError } from "../process/ProcessLimit.ts"
import { collect, startProgram } from "../process/Program.ts"
import type { ProgramChild, ProgramEnd } from "../process/Program.ts"
import { readReply } from "../server/ReadReply.ts"
import { forgetRealms, isHttp } from "./SvnRealms.ts"
import type { SvnSession } from "./SvnSession.ts"
import { makeXmlReader } from "./SvnXml.ts"
import type { SvnElement } from "./SvnXml.ts"
import { redactCredentials } from "../../domain/RedactCredentials.ts"
import type { Reason } from "../../domain/Reason.ts"
import { programFailed } from "../process/ProgramFailed.ts"

/** Converts messages of svn to an error; no other file interprets them. Codes are stable across versions, texts are not. */

type Kind = CheckoutError["reason"]

/** Codes in order of precedence: a message about a connection is followed by its cause. */
const table: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/E0*28\b|E0*122\b|E0*30\b|E0*5\b|No space left on device/, "disk"],
  [/E230001|E120171|E205000/, "failed"],
  [/E170001|E215004|E175013|E204900|E220001|Permission denied \(/, "unauthorized"],
  [/E160013|E160006|E195012|E200009|E170000|E160005|E195007|E155010|W160013|W195007|E210005|E160016/, "missing"],
  [/E170013|E210002|E175002|E175012|E120\d\d\d|E670\d\d\d|E0*11[0135]\b|E0*104\b|E000\d\d\d|E730\d\d\d/, "unreachable"]
]

const hints: ReadonlyArray<readonly [RegExp, Reason]> = [
  [/E230001/, { _tag: "TrustForSvn" }],
  [/E170001|E215004|E175013/, { _tag: "CheckUserAndPassword" }]
]

/** Hints for the user's own working copy. */
const ownHints: typeof hints = [[/E170001|E215004|E175013|E230001/, { _tag: "RunSvnInfo" }]]

const classify = (stderr: string): Kind => table.find(([pattern]) => pattern.test(stderr))?.[1] ?? "failed"

/** Characters of a line of a message. */
const maxLine = 300

const svnFailure = (command: string, stderr: string, secrets: ReadonlyArray<string>, isOwn = false): CheckoutError => {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
  // The cause is in the last line, whatever the length of the others.
  const text = lines
    .slice(-4)
    .map((line) => redactCredentials(line, secrets).slice(0, maxLine))
    .join("; ")
  const hint = (isOwn ? ownHints : hints).find(([pattern]) => pattern.test(stderr))?.[1]
  return new CheckoutError({
    reason: classify(stderr),
    why: programFailed(`svn ${command}`, text, hint)
  })
}

/** Processes of a node at a time; more wait. */
const atOnce = 8
const permits = Semaphore.makeUnsafe(atOnce)
/** A reply about metadata, and one with contents. */
export const replyMillis = 300_000
export const contentMillis = 900_000

const start = (session: SvnSession, args: ReadonlyArray<string>) =>
  Effect.map(
    startProgram({
      program: "svn",
      args: [...args, ...session.options],
      cwd: session.cwd,
      environment: session.environment,
      limits: session.limits()
    }),
    (child) => {
      const { password, url } = session.server
      child.stdin.end(password === undefined || isHttp(url) ? "" : `${Redacted.value(password)}\n`)
      return child
    }
  )

const endError = (
  { isOwn, limits, server }: SvnSession,
  args: ReadonlyArray<string>,
  end: ProgramEnd
): CheckoutError => {
  const command = args[0] ?? ""
  if (end.limit !== undefined) return limitError(`svn ${command}`, end.limit, limits())
  if (end.code === 127 || end.code === 126) {
    return new CheckoutError({
      reason: "failed",
      why: { _tag: "SvnNotInstalled" }
    })
  }
  const secrets = [server.password, server.proxy].flatMap((one) =>
    one === undefined ? [] : [String(Redacted.value(one))]
  )
  const failure = svnFailure(command, end.stderr, secrets, isOwn)
  if (failure.reason === "unauthorized") forgetRealms(server.url)
  return failure
}

const withinTime = (args: ReadonlyArray<string>, millis: number) =>
  Effect.timeoutOrElse({
    duration: millis,
    orElse: () =>
      new CheckoutError({
        reason: "unreachable",
        why: { _tag: "ProgramSlow", command: `svn ${args[0]}`, seconds: millis / 1000 }
      })
  }) as <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | CheckoutError, R>

/** Returns the output; undefined if it is over `maxBytes`, which ends the process. */
export const runSvn = (
  session: SvnSession,
  args: ReadonlyArray<string>,
  maxBytes: number,
  millis = replyMillis
): Effect.Effect<Buffer | undefined, CheckoutError> =>
  Effect.gen(function* () {
    const child = yield* start(session, args)
    const read = yield* Effect.promise(() => collect(child, maxBytes))
    if (read === undefined) return undefined
    if (read.end.code !== 0) return yield* endError(session, args, read.end)
    return read.stdout
  }).pipe(Effect.scoped, withinTime(args, millis), permits.withPermits(1))

/**
 * Reads the XML of a command. `handle` gets each element when it ends; the process is ended when it returns true. Returns whether it was.
 */
export const readSvnXml = (
  session: SvnSession,
  args: ReadonlyArray<string>,
  handle: (element: SvnElement) => boolean | void,
  millis = replyMillis
): Effect.Effect<boolean, CheckoutError> =>
  Effect.gen(function* () {
    const child = yield* start(session, [...args, "--xml"])
    const read = yield* Effect.promise(() => parse(child, handle))
    if (read === "stopped") return true
    if (read.end.code !== 0) return yield* endError(session, args, read.end)
    if (read.malformed !== undefined) {
      return yield* new CheckoutError({
        reason: "failed",
        why: { _tag: "UnreadableReply", command: `svn ${args[0]}`, why: read.malformed }
      })
    }
    return false
  }).pipe(Effect.scoped, withinTime(args, millis), permits.withPermits(1))

const parse = (child: ProgramChild, handle: (element: SvnElement) => boolean | void) =>
  readReply(child, (reply) =>
    makeXmlReader({
      end: (element) => {
        if (!reply.isStopped() && handle(element) === true) reply.stop()
      }
    })
  )
