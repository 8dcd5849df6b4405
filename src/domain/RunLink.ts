/** Links to the service's own pages. Pure. */

interface ServerAddress {
  readonly base_url?: string | undefined
  readonly path_prefix?: string | undefined
}

/** An address below the service's, whether `base_url` has the path prefix in it or not. Undefined where none is configured. */
export const publicUrl = ({ base_url, path_prefix }: ServerAddress, path: string): string | undefined => {
  if (base_url === undefined) return undefined
  const base = base_url.endsWith("/") ? base_url.slice(0, -1) : base_url
  const prefix = (path_prefix ?? "").split("/").filter(Boolean).join("/")
  const withPrefix = prefix === "" || base.endsWith(`/${prefix}`) ? base : `${base}/${prefix}`
  return `${withPrefix}${path}`
}

type RunPage = (runId: string) => string

/** Path of the page of a run. The dashboard has none yet, and a link that leads nowhere is worse than no link. */
const runPage: RunPage | undefined = undefined

export const runUrl = (server: ServerAddress, runId: string, page: RunPage | undefined = runPage): string | undefined =>
  page === undefined ? undefined : publicUrl(server, page(runId))
