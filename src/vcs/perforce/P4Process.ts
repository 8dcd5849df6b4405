/**
 * Runs commands of p4 with a deadline of our own: the client has none for its connection. A command has succeeded if it printed no message
 * of an error, nothing unexpected on standard error, and ended with 0, because the client reports some failures with 0.
 */
import { Effect, Semaphore } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ProgramChild, ProgramEnd } from "../process/Program.ts"
import { readReply } from "../server/ReadReply.ts"
import { findRepair, isNothing, p4Failure } from "./P4Failure.ts"
import type { P4Message, Repair } from "./P4Failure.ts"
import { makeJsonReader, makeTextReader } from "./P4Reader.ts"
import { processError, listSecrets, startP4, withinTime } from "./P4Session.ts"
import type { P4Session } from "./P4Session.ts"
import { isRaw, shownText, toBytes } from "./RawText.ts"

/** Processes of a node at a time; more wait. */
const atOnce = 8
const permits = Semaphore.makeUnsafe(atOnce)
/** Timeout of a command that writes contents. */
const contentMillis = 900_000

interface P4Command {
  readonly args: ReadonlyArray<string>
  /** Further arguments, which are too many for a command line. */
  readonly files?: ReadonlyArray<string> | undefined
}

/** Receives the records of a command, without messages. */
interface P4Handler {
  /** `isText`: see `makeTextReader`. */
  readonly field?: (name: string, value: string, isText: boolean) => void
  /** Returns true to end the command. Fields beyond the limit of a record are missing in it. */
  readonly record?: (record: Readonly<Record<string, string>>) => boolean | void
}

/** Fields of a record that are kept. */
const maxFields = 500
const maxMessages = 50

interface Read {
  readonly stopped: boolean
  readonly messages: ReadonlyArray<P4Message>
  /** A record of text alone: the client does not print this command as JSON. */
  readonly collapsed: boolean
  readonly malformed: string | undefined
  readonly end: ProgramEnd | undefined
}

/** Returns whether the handler ended the command. Whatever does not exist is reported as no record. */
export const readP4 = (
  session: P4Session,
  command: P4Command,
  handler: P4Handler
): Effect.Effect<boolean, CheckoutError> => {
  const attempt = (repaired: ReadonlySet<Repair>): Effect.Effect<boolean, CheckoutError> =>
    Effect.gen(function* () {
      const { logins } = session.modes
      const read = yield* once(session, command, handler)
      if (read.stopped) return true
      const failure = findFailure(session, command, read)
      if (failure === undefined) return false
      const { error, repair } = failure
      if (repair === undefined || repaired.has(repair)) return yield* error
      yield* repairSession(session, repair, logins)
      return yield* attempt(new Set([...repaired, repair]))
    })
  return attempt(new Set())
}

/** Changes the session so that a repetition of the command may succeed. */
const repairSession = (session: P4Session, repair: Repair, logins: number): Effect.Effect<void, CheckoutError> => {
  const { modes } = session
  if (repair === "log_in") return session.login(logins)
  return Effect.sync(() => {
    if (repair === "unicode") modes.unicode = true
    if (repair === "no_unicode") modes.unicode = false
    if (repair === "no_json") modes.json = false
    if (repair === "other_keyword_option") modes.keywords = "-K"
  })
}

const once = (session: P4Session, { args, files }: P4Command, handler: P4Handler) =>
  Effect.gen(function* () {
    const { json } = session.modes
    const child = yield* startWithFiles(session, json ? ["-ztag", "-Mj"] : ["-ztag"], { args, files })
    return yield* Effect.promise(() => parse(child, json, handler))
  }).pipe(Effect.scoped, withinTime(args[0] ?? "", session.replyMillis), permits.withPermits(1))

/** Names of files that are not UTF-8 go to the standard input too: arguments of a process are text. They are the last arguments. */
const startWithFiles = (
  session: P4Session,
  options: ReadonlyArray<string>,
  { args, files }: P4Command,
  writes?: string
) => {
  const raw = args.filter(isRaw)
  const listed = files === undefined && raw.length === 0 ? undefined : [...raw, ...(files ?? [])]
  const plain = args.filter((one) => !isRaw(one))
  return Effect.map(
    startP4(session, [...options, ...(listed === undefined ? [] : ["-x", "-"])], plain, writes),
    (child) => {
      child.stdin.end(toBytes(listed === undefined ? "" : `${listed.join("\n")}\n`))
      return child
    }
  )
}

const findFailure = (
  session: P4Session,
  { args }: P4Command,
  { collapsed, end, malformed, messages }: Read
): { readonly error: CheckoutError; readonly repair: Repair | undefined } | undefined => {
  const name = args[0] ?? ""
  if (end === undefined) return undefined
  const failed = processError(session, name, end)
  if (failed !== undefined) return { error: failed, repair: undefined }
  const { errors, texts } = sortMessages(messages, end.stderr)
  if (errors.length > 0 || (end.code !== 0 && texts.every((text) => !isNothing(text)))) {
    const text = [...errors, ...(errors.length === 0 ? texts : [])].join("\n")
    return { error: p4Failure(name, text, listSecrets(session.server)), repair: findRepair(text) }
  }
  if (collapsed && session.modes.json) {
    return { error: unreadable(name, "text in place of records"), repair: "no_json" }
  }
  return malformed === undefined ? undefined : { error: unreadable(name, malformed), repair: undefined }
}

const unreadable = (command: string, why: string) =>
  new CheckoutError({ reason: "failed", why: { _tag: "UnreadableReply", command: `p4 ${command}`, why } })

/** Messages that mean more than that there is nothing. */
const sortMessages = (messages: ReadonlyArray<P4Message>, stderr: string) => {
  const lines = stderr.split("\n").flatMap((line): ReadonlyArray<P4Message> => {
    const text = line.trim()
    return text === "" ? [] : [toMessage(text)]
  })
  const all = [...messages, ...lines]
  return {
    errors: all.filter(({ severity, text }) => severity >= 3 && !isNothing(text)).map(({ text }) => text),
    texts: all.map(({ text }) => text)
  }
}

/** A line of standard error is a message in JSON, or text of the client, which is an error. */
const toMessage = (line: string): P4Message => {
  if (line.startsWith("{")) {
    const found = { text: line, severity: 3 }
    try {
      const reader = makeJsonReader({
        field: (name, value) => {
          if (name === "data") found.text = shownText(value).trim()
          if (name === "severity") found.severity = Number(value)
        },
        end: () => {}
      })
      reader.push(Buffer.from(line))
      reader.end()
      return found
    } catch {
      return { text: line, severity: 3 }
    }
  }
  return { text: line, severity: 3 }
}

const parse = async (child: ProgramChild, json: boolean, { field, record }: P4Handler): Promise<Read> => {
  let collapsed = false
  let fields: Record<string, string> = Object.create(null)
  let count = 0
  let records = 0
  const messages: Array<P4Message> = []
  const read = await readReply(child, (reply) =>
    (json ? makeJsonReader : makeTextReader)({
      field: (name, value) => {
        if (reply.isStopped()) return
        field?.(name, value, !json)
        if (count++ < maxFields) fields[name] ??= value
      },
      end: () => {
        const found = fields
        fields = Object.create(null)
        count = 0
        if (reply.isStopped()) return
        if (found["severity"] !== undefined) {
          const message = { text: shownText(found["data"] ?? "").trim(), severity: Number(found["severity"]) }
          if (message.severity >= 2 && messages.length < maxMessages) messages.push(message)
        } else if (found["level"] !== undefined) collapsed = true
        else {
          records++
          if (record?.(found) === true) reply.stop()
        }
      }
    })
  )
  if (read === "stopped") return { stopped: true, collapsed, malformed: undefined, messages, end: undefined }
  return { stopped: false, collapsed: collapsed && records === 0, messages, ...read }
}

/** Runs a command that writes a file, whose output is only messages. */
export const runP4 = (
  session: P4Session,
  makeArgs: () => ReadonlyArray<string>,
  writes?: string
): Effect.Effect<boolean, CheckoutError> => {
  const attempt = (repaired: ReadonlySet<Repair>): Effect.Effect<boolean, CheckoutError> =>
    Effect.gen(function* () {
      const args = makeArgs()
      const { logins } = session.modes
      const end = yield* Effect.gen(function* () {
        const child = yield* startWithFiles(session, [], { args }, writes)
        child.stdout.resume()
        return yield* Effect.promise(() => child.ended)
      }).pipe(Effect.scoped, withinTime(args[0] ?? "", contentMillis), permits.withPermits(1))
      const failure = findFailure(
        session,
        { args },
        { stopped: false, messages: [], collapsed: false, malformed: undefined, end }
      )
      if (failure === undefined) return end.stderr.trim() === ""
      if (failure.repair === undefined || repaired.has(failure.repair)) return yield* failure.error
      yield* repairSession(session, failure.repair, logins)
      return yield* attempt(new Set([...repaired, failure.repair]))
    })
  return attempt(new Set())
}
