/**
 * Settings and credentials of svn: no configuration of the user and no store of passwords, except for the user's own working copy. The
 * proxy with its password goes into a private file, and so does the password for a server over HTTP.
 */
import { writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { makePrivateFolder } from "../server/PrivateFolder.ts"
import type { SubversionServer } from "../server/VcsServer.ts"
import { isHttp, storePassword } from "./SvnRealms.ts"
import { checkSvnUrl } from "./SvnUrl.ts"

export interface SvnSession {
  readonly server: SubversionServer
  /** Private folder, which has the client's configuration. */
  readonly folder: string
  /** Current folder of the client. */
  readonly cwd: string
  readonly options: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  /** Runs with the settings and stored passwords of the person who calls the program. */
  readonly isOwn: boolean
  readonly limits: () => ProcessLimits
}

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
    return yield* new CheckoutError({ reason: "failed", why: { _tag: "SvnSettingInvalid" } })
  }
  const folder = yield* makePrivateFolder(root)
  yield* io("configuration of svn", async () => {
    await writeFile(join(folder, "servers"), servers, { mode: 0o600 })
    await writeFile(join(folder, "config"), "[auth]\nstore-passwords = no\nstore-auth-creds = no\npassword-stores =\n")
  })
  yield* storePassword(folder, server)
  const own = { server, folder, cwd: folder, isOwn: false, limits }
  return { ...own, options: options(server, folder), environment: environment(server, folder) }
})

/** Opens a session with the user's own settings and stored passwords, for a working copy on the user's own machine. */
export const openOwnSession = (folder: string, url: string, cwd: string, limits: () => ProcessLimits): SvnSession => {
  const noCredentials = { username: undefined, password: undefined, tlsCaPath: undefined, proxy: undefined } as const
  const { env } = process
  return {
    server: { vcs: "subversion", url, trustServerCert: false, ...noCredentials },
    folder,
    cwd,
    isOwn: true,
    limits,
    options: ["--non-interactive"],
    environment: {
      ...Object.fromEntries(
        Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
      ),
      LC_ALL: "C.UTF-8"
    }
  }
}

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

const environment = (server: SubversionServer, folder: string): Record<string, string> => {
  const kept = inherited.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const ssh = /^svn\+ssh:/i.test(server.url)
  return {
    ...Object.fromEntries(kept),
    // Keys and known hosts of ssh are in the home of the service's user.
    HOME: ssh ? homedir() : folder,
    // A redirect starts no ssh.
    SVN_SSH: ssh ? "ssh -q -o BatchMode=yes -o StrictHostKeyChecking=yes" : "false",
    LC_ALL: "C.UTF-8"
  }
}

const options = (
  { password, trustServerCert, url, username }: SubversionServer,
  folder: string
): ReadonlyArray<string> => [
  "--non-interactive",
  "--no-auth-cache",
  "--config-dir",
  folder,
  ...(username === undefined ? [] : ["--username", username]),
  ...(password === undefined || isHttp(url) ? [] : ["--password-from-stdin"]),
  ...(trustServerCert ? ["--trust-server-cert-failures", "unknown-ca"] : [])
]
