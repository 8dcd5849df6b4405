/** Builds links to pages of the service. Pure. */

interface ServerAddress {
  readonly base_url?: string | undefined
  readonly path_prefix?: string | undefined
}

/** Returns a URL below the service's, whether or not `base_url` includes the path prefix. Undefined if none is configured. */
export const publicUrl = ({ base_url, path_prefix }: ServerAddress, path: string): string | undefined => {
  if (base_url === undefined) return undefined
  const base = base_url.endsWith("/") ? base_url.slice(0, -1) : base_url
  const prefix = (path_prefix ?? "").split("/").filter(Boolean).join("/")
  const withPrefix = prefix === "" || base.endsWith(`/${prefix}`) ? base : `${base}/${prefix}`
  return `${withPrefix}${path}`
}

/** Encodes a value, also the characters that end a link in Markdown. */
const encode = (value: string): string =>
  encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** Returns the URL of the page of a delivery in the dashboard. */
export const deliveryUrl = (server: ServerAddress, eventId: string): string | undefined =>
  publicUrl(server, `/dashboard/deliveries/${encode(eventId)}`)

/** Returns the URL of the page of a pull request in the dashboard. */
export const changeUrl = (server: ServerAddress, repo: string, number: number): string | undefined =>
  publicUrl(server, `/dashboard/change?repo=${encode(repo)}&number=${number}`)

/** Returns the URL of the page of a run in the dashboard. */
export const runUrl = (server: ServerAddress, runId: string): string | undefined =>
  publicUrl(server, `/dashboard/runs/${runId}`)
