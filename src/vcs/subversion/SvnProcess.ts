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
import { svnFailure } from "./SvnFailure.ts"
import type { SvnSession } from "./SvnSession.ts"
import { makeXmlReader } from "./SvnXml.ts"
import type { SvnElement } from "./SvnXml.ts"

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
