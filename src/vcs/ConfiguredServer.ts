/** Makes a server from the configuration of a trigger or of a context repository. */
import { Redacted } from "effect"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { ContextRepository } from "../config/schema/Workspaces.ts"
import type { SubversionServer, VcsServer } from "./VcsServer.ts"

/** Returns why the server is incomplete, as text for an operator, or undefined for a trigger whose changes are checked out with git. */
export const toTriggerServer = (
  { kind, name, settings }: TriggerProfile,
  snapshot: Pick<Snapshot, "credential">
): VcsServer | string | undefined => {
  if (kind !== "subversion") return undefined
  const { http_proxy, password_env, repository_url, tls_ca_path, trust_server_cert } = settings
  if (repository_url === undefined) return `trigger ${name} has no repository_url`
  const password = snapshot.credential(settings, "password")
  if (password === undefined && password_env !== undefined)
    return `variable ${password_env} of trigger ${name} is not set`
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

/** Subversion reads context repositories without credentials: their fields have none. */
export const toContextServer = ({ repository_url }: ContextRepository): SubversionServer | undefined =>
  repository_url === undefined
    ? undefined
    : {
        vcs: "subversion",
        url: repository_url,
        username: undefined,
        password: undefined,
        tlsCaPath: undefined,
        trustServerCert: false,
        proxy: undefined
      }

const readText = (snapshot: Pick<Snapshot, "credential">, holder: object, name: string): string | undefined => {
  const value = snapshot.credential(holder, name)
  return value === undefined ? undefined : String(Redacted.value(value))
}
