/** Links from messages to pages of the dashboard: with a label, or nothing while the service has no public address. Pure. */
import { changeUrl, deliveryUrl, runUrl } from "../domain/RunLink.ts"
import type { SafeText } from "../outputs/SafeText.ts"

export interface PageLinks {
  readonly toRun: (runId: string | undefined) => string
  readonly toDelivery: (eventId: string | undefined) => string
  /** Only pull requests have a page. */
  readonly toChange: (repo: string, number: number | undefined) => string
}

export const makePageLinks = (server: Parameters<typeof runUrl>[0], safe: SafeText, label: string): PageLinks => {
  const link = (url: string | undefined): string => (url === undefined ? "" : safe.link(label, url))
  return {
    toRun: (runId) => link(runId === undefined ? undefined : runUrl(server, runId)),
    toDelivery: (eventId) => link(eventId === undefined ? undefined : deliveryUrl(server, eventId)),
    toChange: (repo, number) => link(number === undefined ? undefined : changeUrl(server, repo, number))
  }
}

/** Joins the parts of a message that are not empty. */
export const joinParts = (separator: string, ...parts: ReadonlyArray<string>): string =>
  parts.filter((part) => part !== "").join(separator)
