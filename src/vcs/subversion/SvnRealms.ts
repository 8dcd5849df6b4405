/**
 * Reads the realms for which a server over HTTP wants a password. svn follows redirects to any server and gives a password of its command
 * line to each of them, but one of its store only to the realm for which it was stored, and a realm begins with scheme, host and port. So the
 * password is stored, in the private folder of the session, for the realms of the configured origin alone.
 */
import { createHash } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { join } from "node:path"
import { Clock, Effect, Redacted } from "effect"
import { Agent, ProxyAgent, request } from "undici"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import type { SubversionServer } from "../server/VcsServer.ts"

const timeoutMillis = 60_000
/** Realms of a server are read again after this time, and after it refused the password. */
const maxAgeMillis = 10 * 60_000
const maxServers = 1000

/** Returns whether svn reaches the URL over HTTP, where servers redirect. */
export const isHttp = (url: string): boolean => /^https?:/i.test(url)

/** Values of a challenge that svn may take for the realm. It reads all that follows in a challenge of type Basic. */
export const listRealms = (challenges: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(
    challenges.flatMap((challenge) => {
      const [, rest] = /\brealm\s*=\s*([^\n]*)/i.exec(challenge) ?? []
      if (rest === undefined) return []
      const whole = rest.trim()
      const [, quoted] = /^"((?:[^"\\]|\\.)*)"/.exec(whole) ?? []
      const bare = /^"([\s\S]*)"$/.exec(whole)?.[1] ?? whole
      return [quoted, quoted?.replaceAll(/\\(.)/g, "$1"), bare, whole.split(/[,\s]/)[0]].filter(
        (realm) => realm !== undefined
      )
    })
  )
]

/** Returns scheme, host and port in the form of svn. */
export const toOrigins = (url: string): ReadonlyArray<string> => {
  const { hostname, port, protocol } = new URL(url)
  const number = port || (protocol === "https:" ? "443" : "80")
  return [...new Set([hostname, hostname.replace(/^\[|\]$/g, "")])].map((host) => `<${protocol}//${host}:${number}>`)
}

const challengesOf = async ({ proxy, url }: SubversionServer, method: "OPTIONS" | "PROPFIND", signal: AbortSignal) => {
  // svn itself checks the certificate before it sends the password; this request has no credential.
  const tls = { rejectUnauthorized: false }
  const dispatcher =
    proxy === undefined
      ? new Agent({ connect: tls })
      : new ProxyAgent({ uri: String(Redacted.value(proxy)), requestTls: tls })
  try {
    const { body, headers, statusCode } = await request(url, {
      method,
      dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMillis)]),
      headers: { "user-agent": "aicr", ...(method === "PROPFIND" ? { depth: "0" } : {}) }
    })
    await body.dump({ limit: 65_536 })
    return { status: statusCode, challenges: [headers["www-authenticate"] ?? []].flat(), location: headers["location"] }
  } finally {
    await dispatcher.destroy()
  }
}

const redirected = (url: string, location: unknown) => {
  const target = typeof location === "string" ? URL.parse(location, url) : null
  const to = target === null ? "another address" : target.origin === "null" ? target.protocol : target.origin
  return new CheckoutError({
    reason: "failed",
    why: { _tag: "SvnRedirects", origin: new URL(url).origin, target: to }
  })
}

const readRealms = Effect.fnUntraced(function* (
  server: SubversionServer
): Effect.fn.Return<ReadonlyArray<string>, CheckoutError> {
  const { origin } = new URL(server.url)
  // A server may return its options without a password.
  for (const method of ["OPTIONS", "PROPFIND"] as const) {
    const { challenges, location, status } = yield* Effect.tryPromise({
      try: (signal) => challengesOf(server, method, signal),
      catch: () => new CheckoutError({ reason: "unreachable", why: { _tag: "SvnServerSilent", origin } })
    })
    if (status >= 300 && status <= 399) return yield* redirected(server.url, location)
    if (status === 401) return listRealms(challenges)
  }
  return []
})

const found = new Map<string, { readonly at: number; readonly realms: ReadonlyArray<string> }>()

/** Reads the realms again when the server is used next, because it refused the password. */
export const forgetRealms = (url: string): void => void found.delete(url)

const realmsOf = Effect.fnUntraced(function* (server: SubversionServer) {
  const now = yield* Clock.currentTimeMillis
  const entry = found.get(server.url)
  if (entry !== undefined && now - entry.at < maxAgeMillis) return entry.realms
  const realms = yield* readRealms(server)
  found.delete(server.url)
  found.set(server.url, { at: now, realms })
  const [oldest] = found.keys()
  if (found.size > maxServers && oldest !== undefined) found.delete(oldest)
  return realms
})

const field = (name: string, value: string): string =>
  `K ${Buffer.byteLength(name)}\n${name}\nV ${Buffer.byteLength(value)}\n${value}\n`

/** Stores the password for the realms of the server in the folder of a session, which is removed with it. */
export const storePassword = Effect.fnUntraced(function* (
  folder: string,
  server: SubversionServer
): Effect.fn.Return<void, CheckoutError> {
  const { password, username = userInfo().username } = server
  if (password === undefined || !isHttp(server.url)) return
  const realms = yield* realmsOf(server)
  yield* io("credentials of svn", async () => {
    const store = join(folder, "auth", "svn.simple")
    await mkdir(store, { recursive: true, mode: 0o700 })
    for (const origin of toOrigins(server.url))
      for (const realm of realms) {
        const name = `${origin} ${realm}`
        const fields = [
          ["passtype", "simple"],
          ["password", Redacted.value(password)],
          ["svn:realmstring", name],
          ["username", username]
        ] as const
        const text = `${fields.map(([key, value]) => field(key, value)).join("")}END\n`
        await writeFile(join(store, createHash("md5").update(name).digest("hex")), text, { mode: 0o600 })
      }
  })
})
