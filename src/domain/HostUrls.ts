/** Derives the URL of a host's REST API from its web URL, and provides the default web URL of each kind. */
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

/** Returns both URLs without a trailing slash, or undefined if the kind is not a git host or no URL is configured. */
export const hostUrls = (
  kind: TriggerKind,
  base: string | undefined
): { readonly baseUrl: string | undefined; readonly apiUrl: string | undefined } => {
  const host = hosts[kind]
  const baseUrl = (base ?? host?.base)?.replace(/(?<!\/)\/+$/, "")
  return { baseUrl, apiUrl: baseUrl === undefined ? undefined : host?.api(baseUrl) }
}

/** Returns the HTTP(S) URL of a repository at a host. */
export const cloneUrl = (baseUrl: string, { fullName }: Pick<Repo, "fullName">): string =>
  `${baseUrl}/${fullName.split("/").map(encodeURIComponent).join("/")}.git`

interface Urls {
  readonly baseUrl: string | undefined
  readonly apiUrl: string | undefined
}

const origin = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined

/** Returns whether a credential of one host may be sent to the other: pages and API have the same origins. */
export const haveSameOrigins = (one: Urls, other: Urls): boolean =>
  origin(one.baseUrl) !== undefined &&
  origin(one.baseUrl) === origin(other.baseUrl) &&
  origin(one.apiUrl) === origin(other.apiUrl)
