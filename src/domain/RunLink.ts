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

/** Returns the URL of the page of a run in the dashboard. */
export const runUrl = (server: ServerAddress, runId: string): string | undefined =>
  publicUrl(server, `/dashboard/runs/${runId}`)
