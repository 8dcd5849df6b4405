/** Lists what a configuration requires: programs on the path and reachable servers. Used by `aicr doctor`. */
import { access, constants } from "node:fs/promises"
import { delimiter, isAbsolute, join, resolve } from "node:path"
import { Effect, Redacted } from "effect"
import type { Role } from "../domain/Role.ts"
import type { Env } from "./Credentials.ts"
import { variable } from "./Credentials.ts"
import { callsModels, usesHosts } from "./credentials/RoleCredentials.ts"
import type { Snapshot } from "./Snapshot.ts"

export interface Program {
  /** Name on the path, or absolute path. */
  readonly name: string
  readonly why: string
  /** Next step of an operator who lacks it. */
  readonly install: string
}

export interface Server {
  /** Host and port; never credentials. */
  readonly host: string
  readonly port: number
  readonly why: string
}

const p4Install =
  "install the command-line client of Perforce from https://www.perforce.com/downloads/helix-command-line-client-p4, or set perforce.client_path to it"

export const listPrograms = (snapshot: Snapshot): ReadonlyArray<Program> => {
  const found = new Map<string, string>()
  const need = (name: string | undefined, why: string): void => {
    if (name !== undefined && !found.has(name)) found.set(name, why)
  }
  const { client_path } = snapshot.document.perforce
  const p4 = client_path === undefined ? "p4" : resolve(snapshot.baseDir, client_path)
  need("git", "checkouts")
  for (const { kind, name, enabled } of snapshot.triggers.values()) {
    if (enabled && kind === "perforce") need(p4, `trigger ${name}`)
    if (enabled && kind === "subversion") need("svn", `trigger ${name}`)
  }
  for (const { id, enabled, contextRepositories } of snapshot.workspaces.values()) {
    if (!enabled) continue
    for (const { kind } of contextRepositories)
      need({ git: "git", perforce: p4, subversion: "svn" }[kind], `context repositories of workspace ${id}`)
  }
  return [...found].map(([name, why]) => ({ name, why, install: name === p4 ? p4Install : "install it" }))
}

const defaultPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
  "rediss:": 6379,
  "nats:": 4222,
  "tls:": 4222
}

/** Lists the hosts and models outside of the installation that a node with these roles sends requests to. */
const listOutside = (snapshot: Snapshot, roles: ReadonlySet<Role>): Array<readonly [string | undefined, string]> => {
  const { llm } = snapshot.document
  const urls: Array<readonly [string | undefined, string]> = []
  if (callsModels(snapshot.document, roles))
    for (const { id, base_url } of llm.providers) urls.push([base_url, `llm provider ${id}`])
  for (const { name, enabled, apiUrl } of snapshot.triggers.values())
    if (enabled) urls.push([apiUrl, `trigger ${name}`])
  for (const { name, enabled, kind, settings } of snapshot.triggers.values()) {
    // P4PORT: [protocol:][host:]port
    const [, host = "localhost", port] = /^(?:(?:tcp|ssl)\d*:)?(?:(.+):)?(\d+)$/.exec(String(settings.port ?? "")) ?? []
    if (enabled && kind === "perforce" && port !== undefined) urls.push([`p4://${host}:${port}`, `trigger ${name}`])
  }
  for (const { outputs } of snapshot.workspaces.values())
    for (const { base_url, kind, name } of outputs.channels)
      if (kind === "p4_swarm") urls.push([base_url, `channel ${name}`])
  if (llm.model_catalog.enabled && !llm.model_catalog.offline)
    urls.push([llm.model_catalog.source_url, "llm.model_catalog"])
  return urls
}

/** Returns host and port of a URL without its credentials, or undefined if it is not a URL. */
const serverOf = (url: string, why: string): Server | undefined => {
  if (!URL.canParse(url)) return undefined
  const { hostname, port, protocol } = new URL(url)
  const number = port === "" ? defaultPorts[protocol] : Number(port)
  return hostname === "" || number === undefined
    ? undefined
    : { host: hostname.replace(/^\[|\]$/g, ""), port: number, why }
}

export const listServers = (snapshot: Snapshot, env: Env, roles: ReadonlySet<Role>): ReadonlyArray<Server> => {
  const { llm, storage, queue, config_sources } = snapshot.document
  const urls = usesHosts(roles) ? listOutside(snapshot, roles) : []
  const secret = (holder: object, name: string): string | undefined => {
    const value = snapshot.credential(holder, name)
    return value === undefined ? undefined : String(Redacted.value(value))
  }
  if (storage.database.kind === "postgres") urls.push([secret(storage.database.postgres, "url"), "storage.database"])
  const redis = [storage.cache.kind, queue.kind, llm.model_catalog.cache.backend, config_sources.database.backend]
  if (redis.includes("redis")) urls.push([secret(storage.cache.redis, "url"), "storage.cache.redis"])
  if (storage.object.kind === "s3") urls.push([secret(storage.object.s3, "endpoint_url"), "storage.object.s3"])
  for (const url of variable(env, "SVC_NATS_URL")?.split(",") ?? []) urls.push([url.trim(), "SVC_NATS_URL"])
  const servers = new Map<string, Server>()
  for (const [url, why] of urls) {
    const server = url === undefined ? undefined : serverOf(url, why)
    if (server !== undefined && !servers.has(`${server.host}:${server.port}`))
      servers.set(`${server.host}:${server.port}`, server)
  }
  return [...servers.values()]
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false
  )

/** Returns whether a program can be started. `name`: its name on the path, or its absolute path. */
export const hasProgram = (name: string): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    if (isAbsolute(name)) return isExecutable(name)
    for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
      if (folder !== "" && (await isExecutable(join(folder, name)))) return true
    }
    return false
  })
