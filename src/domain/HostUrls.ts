/** Web URL that a kind of host has by default, and how the URL of its REST API follows from the web URL. */
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
  const baseUrl = (base ?? host?.base)?.replace(/\/+$/, "")
  return { baseUrl, apiUrl: baseUrl === undefined ? undefined : host?.api(baseUrl) }
}
