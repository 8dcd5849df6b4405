/**
 * Runs svn without the user's configuration, without prompts and without a store of passwords. The password goes to standard input, the
 * proxy with its password into a private file. Externals are followed by no command, and no command has a working copy.
 */
import { mkdir, rm, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted, Semaphore } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { limitError } from "../ProcessLimit.ts"
import type { ProcessLimits } from "../ProcessLimits.ts"
import { newMark } from "../ProcessMark.ts"
import { collect, startProgram } from "../Program.ts"
import type { ProgramChild, ProgramEnd } from "../Program.ts"
import type { SubversionServer } from "../VcsServer.ts"
import { svnFailure } from "./SvnFailure.ts"
import { checkSvnUrl } from "./SvnUrl.ts"
import { makeXmlReader } from "./SvnXml.ts"
import type { SvnElement } from "./SvnXml.ts"

export interface SvnSession {
  readonly server: SubversionServer
  /** Folder of the client's configuration. */
  readonly folder: string
  readonly limits: () => ProcessLimits
}

/** Processes of a node at a time; more wait. */
const atOnce = 8
const permits = Semaphore.makeUnsafe(atOnce)
/** A reply about metadata, and one with contents. */
export const replyMillis = 300_000
export const contentMillis = 900_000

/** Writes the configuration of the client, which is removed with the scope. `root`: as in `makeScratchObjects`. */
export const openSession = Effect.fnUntraced(function* (
  root: string,
  server: SubversionServer,
  limits: () => ProcessLimits
): Effect.fn.Return<SvnSession, CheckoutError, Scope.Scope> {
  const refused = checkSvnUrl(server.url)
  if (refused !== undefined) return yield* refused
  const servers = serversFile(server)
  if (servers === undefined) {
    return yield* new CheckoutError({ reason: "failed", message: "tls_ca_path or http_proxy has control characters" })
  }
  const folder = join(root, newMark())
  yield* Effect.acquireRelease(
    io("configuration of svn", async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, "servers"), servers, { mode: 0o600 })
      await writeFile(
        join(folder, "config"),
        "[auth]\nstore-passwords = no\nstore-auth-creds = no\npassword-stores =\n"
      )
    }),
    () =>
      io("configuration of svn", () => rm(folder, { recursive: true, force: true })).pipe(
        Effect.catch(({ message }) => Effect.logWarning("configuration of svn not removed", { folder, error: message }))
      )
  )
  return { server, folder, limits }
})

/** Undefined: a value could add lines of its own. */
const serversFile = ({ proxy, tlsCaPath }: SubversionServer): string | undefined => {
  const lines = ["[global]"]
  if (tlsCaPath !== undefined) lines.push(`ssl-authority-files = ${tlsCaPath}`)
  if (proxy !== undefined) {
    const { hostname, password, port, protocol, username } = new URL(String(Redacted.value(proxy)))
    lines.push(`http-proxy-host = ${hostname}`, `http-proxy-port = ${port || (protocol === "https:" ? 443 : 80)}`)
    if (username !== "") lines.push(`http-proxy-username = ${decodeURIComponent(username)}`)
    if (password !== "") lines.push(`http-proxy-password = ${decodeURIComponent(password)}`)
  }
  return lines.some((line) => /\p{Cc}/u.test(line)) ? undefined : `${lines.join("\n")}\n`
}

const inherited = ["PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK"]

const environment = ({ folder, server }: SvnSession): Record<string, string> => {
  const kept = inherited.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const ssh = server.url.startsWith("svn+ssh:")
  return {
    ...Object.fromEntries(kept),
    // Keys and known hosts of ssh are in the home of the service's user.
    HOME: ssh ? homedir() : folder,
    ...(ssh ? { SVN_SSH: "ssh -q -o BatchMode=yes -o StrictHostKeyChecking=yes" } : {}),
    LC_ALL: "C.UTF-8"
  }
}

const start = (session: SvnSession, args: ReadonlyArray<string>) =>
  Effect.map(
    startProgram({
      program: "svn",
      args: [...args, ...options(session.server, session.folder)],
      cwd: session.folder,
      environment: environment(session),
      limits: session.limits()
    }),
    (child) => {
      const { password } = session.server
      child.stdin.end(password === undefined ? "" : `${Redacted.value(password)}\n`)
      return child
    }
  )

const options = ({ password, trustServerCert, username }: SubversionServer, folder: string): ReadonlyArray<string> => [
  "--non-interactive",
  "--no-auth-cache",
  "--config-dir",
  folder,
  ...(username === undefined ? [] : ["--username", username]),
  ...(password === undefined ? [] : ["--password-from-stdin"]),
  ...(trustServerCert ? ["--trust-server-cert-failures", "unknown-ca"] : [])
]

const endError = ({ limits, server }: SvnSession, args: ReadonlyArray<string>, end: ProgramEnd): CheckoutError => {
  const command = args[0] ?? ""
  if (end.limit !== undefined) return limitError(`svn ${command}`, end.limit, limits())
  if (end.code === 127 || end.code === 126) {
    return new CheckoutError({
      reason: "failed",
      message: "svn is not installed; install it (Debian: apt-get install subversion)"
    })
  }
  const secrets = [server.password, server.proxy].flatMap((one) =>
    one === undefined ? [] : [String(Redacted.value(one))]
  )
  return svnFailure(command, end.stderr, secrets)
}

const withinTime = (args: ReadonlyArray<string>, millis: number) =>
  Effect.timeoutOrElse({
    duration: millis,
    orElse: () => new CheckoutError({ reason: "unreachable", message: `svn ${args[0]} took over ${millis / 1000} s` })
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
        message: `svn ${args[0]}: unreadable reply (${read.malformed})`
      })
    }
    return false
  }).pipe(Effect.scoped, withinTime(args, millis), permits.withPermits(1))

const parse = (
  child: ProgramChild,
  handle: (element: SvnElement) => boolean | void
): Promise<"stopped" | { readonly end: ProgramEnd; readonly malformed: string | undefined }> =>
  new Promise((resolve) => {
    let malformed: string | undefined
    let stopped = false
    const reader = makeXmlReader({
      end: (element) => {
        if (!stopped && handle(element) === true) {
          stopped = true
          resolve("stopped")
        }
      }
    })
    const attempt = (read: () => void): void => {
      if (stopped || malformed !== undefined) return
      try {
        read()
      } catch (cause) {
        malformed = cause instanceof Error ? cause.message.slice(0, 200) : String(cause)
      }
    }
    child.stdout.on("data", (chunk: Buffer) => attempt(() => reader.push(chunk)))
    void child.ended.then((end) => {
      attempt(reader.end)
      resolve({ end, malformed })
    })
  })
