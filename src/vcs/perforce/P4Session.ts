/**
 * A signed-in user of a server, shared by the reviews of a node: a private folder with the client's tickets and trusted keys. The key of a
 * TLS server is pinned to the configured fingerprint, and no other is ever accepted. The password goes to the standard input of
 * `p4 login`, a ticket into the environment of the client, neither into arguments.
 */
import { join } from "node:path"
import { Effect, Redacted, Semaphore } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { isServerAddress } from "../../domain/PerforcePort.ts"
import { CheckoutError } from "../Checkout.ts"
import { limitError } from "../process/ProcessLimit.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { collect, startProgram } from "../process/Program.ts"
import type { ProgramEnd } from "../process/Program.ts"
import { makePrivateFolder } from "../server/PrivateFolder.ts"
import type { PerforceServer } from "../server/VcsServer.ts"
import { findRepair, p4Failure } from "./P4Failure.ts"

/** Properties of the server and of the client, found by their first messages. */
interface P4Modes {
  json: boolean
  unicode: boolean
  /** Newer clients have another option to print keywords unexpanded. */
  keywords: "-k" | "-K"
  /** The configured ticket, until the server refuses it. */
  ticket: Redacted.Redacted | undefined
  /** Number of logins. */
  logins: number
  /** See `readServerInfo`. */
  info: P4ServerInfo | undefined
}

export interface P4ServerInfo {
  readonly id: string | undefined
  /** Names that differ in case only are equal. */
  readonly fold: boolean
}

export interface P4Session {
  readonly server: PerforceServer
  /** Private folder, into which the client writes. */
  readonly folder: string
  readonly cwd: string
  /** `writes`: a folder outside of the private one into which the client writes. */
  readonly environment: (writes: string | undefined) => Readonly<Record<string, string>>
  readonly limits: () => ProcessLimits
  readonly modes: P4Modes
  /** Timeout of a reply about metadata. */
  readonly replyMillis: number
  /** Logs in with the password, once for all commands that found the same login expired. */
  readonly login: (seen: number) => Effect.Effect<void, CheckoutError>
}

const loginMillis = 60_000

const refuse = (why: Reason) => new CheckoutError({ reason: "failed", why })

export const checkServer = ({ client, fingerprint, port, user }: PerforceServer): CheckoutError | undefined => {
  if (!isServerAddress(port)) return refuse({ _tag: "InvalidP4Port", port })
  if (user !== undefined && !/^[^\s@#*%/-][^\s@#*%/]*$/.test(user)) return refuse({ _tag: "InvalidP4User", user })
  if (client !== undefined && !/^[^\s@#*%/-][^\s@#*%/]*$/.test(client))
    return refuse({ _tag: "InvalidP4Workspace", workspace: client })
  if (fingerprint === undefined) return undefined
  if (!port.startsWith("ssl")) return refuse({ _tag: "FingerprintWithoutTls" })
  return /^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){15,63}$/.test(fingerprint)
    ? undefined
    : refuse({ _tag: "InvalidFingerprint" })
}

const newModes = (ticket: Redacted.Redacted | undefined): P4Modes => ({
  json: true,
  unicode: false,
  keywords: "-k",
  ticket,
  logins: 0,
  info: undefined
})

/** Signs in, and removes the folder with the scope. `root`: as in `makeScratchObjects`. */
export const openSession = Effect.fnUntraced(function* (
  root: string,
  server: PerforceServer,
  limits: () => ProcessLimits,
  replyMillis = 300_000
): Effect.fn.Return<P4Session, CheckoutError, Scope.Scope> {
  const refused = checkServer(server)
  if (refused !== undefined) return yield* refused
  const folder = yield* makePrivateFolder(root)
  const modes = newModes(server.ticket)
  const gate = Semaphore.makeUnsafe(1)
  const session: P4Session = {
    server,
    folder,
    cwd: folder,
    environment: (writes) => privateEnvironment(folder, server, modes, writes),
    limits,
    modes,
    replyMillis,
    login: (seen) => gate.withPermits(1)(Effect.suspend(() => (modes.logins === seen ? logIn(session) : Effect.void)))
  }
  if (server.fingerprint !== undefined) yield* runPlain(session, ["trust", "-i", server.fingerprint], "")
  if (server.ticket === undefined && server.password !== undefined) yield* session.login(0)
  return session
})

/** The ticket is written to the session's file, which only this user can read. */
const logIn = Effect.fnUntraced(function* (session: P4Session): Effect.fn.Return<void, CheckoutError> {
  const { modes, server } = session
  if (server.password === undefined) {
    return yield* new CheckoutError({
      reason: "unauthorized",
      why: { _tag: server.ticket === undefined ? "P4LoginRequired" : "P4TicketRefused" }
    })
  }
  yield* runPlain(session, ["login"], `${Redacted.value(server.password)}\n`)
  modes.ticket = undefined
  modes.logins++
})

export const listSecrets = ({ password, ticket }: PerforceServer): ReadonlyArray<string> =>
  [password, ticket].flatMap((one) => (one === undefined ? [] : [String(Redacted.value(one))]))

const inherited = ["PATH", "TMPDIR"]

/** Nothing of the caller's settings: no P4CONFIG, P4DIFF, P4EDITOR or PWD. */
const privateEnvironment = (
  folder: string,
  server: PerforceServer,
  { ticket }: P4Modes,
  writes: string | undefined
): Record<string, string> => ({
  ...Object.fromEntries(
    inherited.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    })
  ),
  HOME: folder,
  LC_ALL: "C.UTF-8",
  P4PORT: server.port,
  ...(server.user === undefined ? {} : { P4USER: server.user }),
  ...(server.client === undefined ? {} : { P4CLIENT: server.client }),
  P4TICKETS: join(folder, "tickets"),
  P4TRUST: join(folder, "trust"),
  P4ENVIRO: join(folder, "environment"),
  // The client writes nowhere else, whatever the server requests.
  P4CLIENTPATH: writtenFolders(folder, writes),
  ...(ticket === undefined ? {} : { P4PASSWD: String(Redacted.value(ticket)) })
})

const writtenFolders = (folder: string, writes: string | undefined): string =>
  writes === undefined ? folder : `${folder};${writes}`

/** Programs that the client would start to show something to a person. */
const interactive = new Set(["P4DIFF", "P4MERGE", "P4PAGER", "P4EDITOR"])

/**
 * Opens a session with the user's own settings and login, for a client workspace on the user's own machine. `cwd` selects the settings, of
 * which `port` is the server if it is known.
 */
export const openOwnSession = (
  { cwd, folder, port = "" }: Pick<P4Session, "cwd" | "folder"> & { readonly port: string | undefined },
  program: string,
  limits: () => ProcessLimits,
  replyMillis: number
): P4Session => {
  const password = process.env["P4PASSWD"]
  const ticket = password === undefined ? undefined : Redacted.make(password)
  const unset = { user: undefined, password: undefined, client: undefined, fingerprint: undefined } as const
  const own = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || interactive.has(name) ? [] : [[name, value]]
    )
  )
  return {
    server: { vcs: "perforce", port, program, ticket, ...unset },
    folder,
    cwd,
    // The client looks for its settings from PWD upwards.
    environment: (writes) => ({ ...own, PWD: cwd, LC_ALL: "C.UTF-8", P4CLIENTPATH: writtenFolders(folder, writes) }),
    limits,
    modes: newModes(ticket),
    replyMillis,
    login: () =>
      new CheckoutError({
        reason: "unauthorized",
        why: { _tag: "P4LoggedOut" }
      })
  }
}

export const startP4 = (
  session: P4Session,
  options: ReadonlyArray<string>,
  args: ReadonlyArray<string>,
  writes?: string
) =>
  startProgram({
    program: session.server.program,
    // No file of settings changes the server.
    args: [
      ...(session.server.port === "" ? [] : ["-p", session.server.port]),
      ...options,
      ...(session.modes.unicode ? ["-C", "utf8"] : []),
      ...args
    ],
    cwd: session.cwd,
    environment: session.environment(writes),
    limits: session.limits()
  })

/** Returns why the process itself failed, whatever it printed. */
export const processError = (session: P4Session, command: string, end: ProgramEnd): CheckoutError | undefined => {
  if (end.limit !== undefined) return limitError(`p4 ${command}`, end.limit, session.limits())
  if (end.code === 126 || end.code === 127 || end.isUnstarted === true) return refuse({ _tag: "P4NotInstalled" })
  return undefined
}

export const withinTime = (command: string, millis: number) =>
  Effect.timeoutOrElse({
    duration: millis,
    orElse: () =>
      new CheckoutError({
        reason: "unreachable",
        why: { _tag: "ProgramSlow", command: `p4 ${command}`, seconds: millis / 1000 }
      })
  }) as <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | CheckoutError, R>

/** Runs a command that prints text. */
const runPlain = (
  session: P4Session,
  args: ReadonlyArray<string>,
  stdin: string
): Effect.Effect<void, CheckoutError> => {
  const command = args[0] ?? ""
  const once = Effect.gen(function* () {
    const child = yield* startP4(session, [], args)
    child.stdin.end(stdin)
    const read = yield* Effect.promise(() => collect(child, 65_536))
    if (read === undefined)
      return yield* refuse({ _tag: "ProgramPrintsTooMuch", command: `p4 ${command}`, bytes: 65_536 })
    const failed = processError(session, command, read.end)
    if (failed !== undefined) return yield* failed
    return read.end.code === 0 ? undefined : `${read.end.stderr}\n${read.stdout.toString("utf8")}`
  }).pipe(Effect.scoped, withinTime(command, loginMillis))
  const attempt = (mayRepair: boolean): Effect.Effect<void, CheckoutError> =>
    Effect.flatMap(once, (output) => {
      if (output === undefined) return Effect.void
      if (mayRepair && findRepair(output) === "unicode") {
        session.modes.unicode = true
        return attempt(false)
      }
      return p4Failure(command, output, listSecrets(session.server))
    })
  return attempt(true)
}
