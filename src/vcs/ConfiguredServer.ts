/** Makes a server from the configuration of a trigger or of a context repository. */
import { resolve } from "node:path"
import { Redacted } from "effect"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { ContextRepository } from "../config/schema/Workspaces.ts"
import type { PerforceServer, SubversionServer, VcsServer } from "./server/VcsServer.ts"
import type { Reason } from "../domain/Reason.ts"

type Source = Pick<Snapshot, "credential" | "document" | "baseDir">

/** Returns why the server is incomplete, or undefined for a trigger whose changes are checked out with git. */
export const toTriggerServer = (trigger: TriggerProfile, snapshot: Source): VcsServer | Reason | undefined => {
  const { kind, name, settings } = trigger
  if (kind === "perforce") return toPerforce(settings, snapshot, { _tag: "OwnerTrigger", trigger: name })
  return kind === "subversion" ? toSubversion(trigger, snapshot) : undefined
}

const toSubversion = ({ name, settings }: TriggerProfile, snapshot: Source): SubversionServer | Reason => {
  const { http_proxy, password_env, repository_url, tls_ca_path, trust_server_cert } = settings
  const owner = { _tag: "OwnerTrigger", trigger: name } as const
  if (repository_url === undefined) return { _tag: "ServerFieldMissing", owner, field: "repository_url" }
  const password = snapshot.credential(settings, "password")
  if (password === undefined && password_env !== undefined)
    return { _tag: "ServerVariableUnset", owner, variable: password_env }
  return {
    vcs: "subversion",
    url: repository_url,
    username: readText(snapshot, settings, "username"),
    password,
    tlsCaPath: tls_ca_path,
    trustServerCert: trust_server_cert,
    proxy: http_proxy === undefined ? undefined : Redacted.make(http_proxy)
  }
}

type PerforceFields = Pick<
  ContextRepository,
  "user" | "user_env" | "ticket" | "ticket_env" | "password" | "password_env" | "p4_fingerprint"
> & { readonly port?: string | number | undefined; readonly workspace?: string | undefined }

const toPerforce = (fields: PerforceFields, snapshot: Source, owner: Reason): PerforceServer | Reason => {
  const { p4_fingerprint, port, workspace } = fields
  if (port === undefined) return { _tag: "ServerFieldMissing", owner, field: "port" }
  for (const name of ["user_env", "ticket_env", "password_env"] as const) {
    const variable = fields[name]
    if (variable !== undefined && snapshot.credential(fields, name.slice(0, -"_env".length)) === undefined)
      return { _tag: "ServerVariableUnset", owner, variable }
  }
  const user = readText(snapshot, fields, "user")
  if (user === undefined) return { _tag: "ServerFieldMissing", owner, field: "user" }
  return {
    vcs: "perforce",
    port: String(port),
    user,
    ticket: snapshot.credential(fields, "ticket"),
    password: snapshot.credential(fields, "password"),
    client: workspace,
    fingerprint: p4_fingerprint,
    program: perforceClient(snapshot)
  }
}

/** Returns the program name or path of p4. */
export const perforceClient = ({ baseDir, document }: Pick<Snapshot, "baseDir" | "document">): string => {
  const { client_path } = document.perforce
  return client_path === undefined ? "p4" : resolve(baseDir, client_path)
}

/**
 * Returns the server of a context repository of these kinds, why it is incomplete, or undefined for git. Subversion reads context repositories
 * with the access of a trigger of the same server: the one with the most of its URL.
 */
export const toContextServer = (
  repository: ContextRepository,
  snapshot: Source & Pick<Snapshot, "triggersOfKind">
): VcsServer | Reason | undefined => {
  const { kind, repository_url } = repository
  if (kind === "git") return undefined
  if (kind === "perforce") return toPerforce(repository, snapshot, { _tag: "OwnerRepository" })
  if (repository_url === undefined) return { _tag: "UrlMissing" }
  const [trigger] = snapshot
    .triggersOfKind("subversion")
    .filter(({ settings }) => originOf(settings.repository_url) === originOf(repository_url))
    .toSorted((a, b) => sharedLength(b, repository_url) - sharedLength(a, repository_url))
  if (trigger !== undefined) {
    const server = toSubversion(trigger, snapshot)
    return "_tag" in server ? server : { ...server, url: repository_url }
  }
  return {
    vcs: "subversion",
    url: repository_url,
    username: undefined,
    password: undefined,
    tlsCaPath: undefined,
    trustServerCert: false,
    proxy: undefined
  }
}

/** Scheme, host and port, to which the credentials of a URL may go. A server without a host is this machine. */
const originOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? `${new URL(url).protocol}//${new URL(url).host}` : undefined

const sharedLength = ({ settings: { repository_url = "" } }: TriggerProfile, url: string): number => {
  let length = 0
  while (length < url.length && repository_url[length] === url[length]) length++
  return length
}

const readText = (snapshot: Source, holder: object, name: string): string | undefined => {
  const value = snapshot.credential(holder, name)
  return value === undefined ? undefined : String(Redacted.value(value))
}
