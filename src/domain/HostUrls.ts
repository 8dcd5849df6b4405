/** Web URL that a kind of host has by default, and how the URL of its REST API follows from the web URL. */
import type { Repo } from "./Change.ts"
import type { TriggerKind } from "./Kinds.ts"

interface HostUrls {
  readonly base?: string
  readonly api: (base: string) => string
}

const hosts: Partial<Record<TriggerKind, HostUrls>> = {
  gitea: { api: (base) => `${base}/api/v1` },
  forgejo: { api: (base) => `${base}/api/v1` },
  github: {
    base: "https://github.com",
    api: (base) => (base === "https://github.com" ? "https://api.github.com" : `${base}/api/v3`)
  },
  gitlab: { base: "https://gitlab.com", api: (base) => `${base}/api/v4` }
}

/** Both URLs without trailing slash; undefined where the kind is no git host or nothing names the host. */
export const hostUrls = (
  kind: TriggerKind,
  base: string | undefined
): { readonly baseUrl: string | undefined; readonly apiUrl: string | undefined } => {
  const host = hosts[kind]
  const baseUrl = (base ?? host?.base)?.replace(/(?<!\/)\/+$/, "")
  return { baseUrl, apiUrl: baseUrl === undefined ? undefined : host?.api(baseUrl) }
}

/** Where a host serves a repository over HTTP(S). */
export const cloneUrl = (baseUrl: string, { fullName }: Pick<Repo, "fullName">): string =>
  `${baseUrl}/${fullName.split("/").map(encodeURIComponent).join("/")}.git`

interface Urls {
  readonly baseUrl: string | undefined
  readonly apiUrl: string | undefined
}

const origin = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined

/** Whether a credential that was given for one host may be sent to the other: pages and API are at the same origins. */
export const haveSameOrigins = (one: Urls, other: Urls): boolean =>
  origin(one.baseUrl) !== undefined &&
  origin(one.baseUrl) === origin(other.baseUrl) &&
  origin(one.apiUrl) === origin(other.apiUrl)
