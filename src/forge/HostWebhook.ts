/** Finds what is wrong with the webhooks of a repository, as the host lists them, as text for operators. Pure. */
import type { ForgeKind } from "../domain/Kinds.ts"

/** A webhook as the API of a host lists it. */
export interface HostWebhook {
  /** May contain credentials. */
  readonly url: string
  readonly isActive: boolean
  readonly events: ReadonlyArray<string>
  /** Latest deliveries, newest first, as the host's log has them; empty where the host has none. */
  readonly deliveries: ReadonlyArray<LoggedDelivery>
}

export interface LoggedDelivery {
  /** Status of the response; undefined if there was none. */
  readonly status: number | undefined
  readonly at: string | undefined
}

interface WebhookRow {
  /** Events without which no pull request is reviewed. */
  readonly events: ReadonlyArray<string>
  /** Permission of a credential that may list webhooks. */
  readonly permission: string
}

const gitea: WebhookRow = {
  // The event of a pull request and that of its new commits are separate.
  events: ["pull_request", "pull_request_sync"],
  permission: "an account that administers the repository"
}

const rows: Readonly<Record<ForgeKind, WebhookRow>> = {
  gitea,
  forgejo: gitea,
  github: {
    events: ["pull_request"],
    permission: "Webhooks: read, or the scope admin:repo_hook of a classic token"
  },
  gitlab: { events: ["merge_requests_events"], permission: "the role Maintainer and the scope api or read_api" }
}

/** Deliveries of the log that are considered. */
export const loggedDeliveries = 10

/** Returns what the credential needs for a check of webhooks. */
export const webhookPermission = (kind: ForgeKind): string => rows[kind].permission

/**
 * Returns the problems of the webhooks that point to this service; empty if one is complete. `addresses` are the URLs at which
 * the service receives deliveries of this host; empty where the configuration has none.
 */
export const listWebhookProblems = (
  kind: ForgeKind,
  hooks: ReadonlyArray<HostWebhook>,
  addresses: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const [address] = addresses
  const own = hooks.filter(({ url }) => isOurs(url))
  if (own.length === 0)
    return [
      `no webhook of the repository points to ${address ?? "a path /webhooks/…"}; add one in its settings, unless the organisation or the site has one`
    ]
  const addressed =
    address === undefined ? own : own.filter(({ url }) => addresses.some((one) => isSameAddress(url, one)))
  if (addressed.length === 0)
    return [
      `the webhook of the repository points to ${own.map(({ url }) => withoutSecrets(url)).join(", ")}, and server.base_url gives ${address}; change one of them`
    ]
  const active = addressed.filter(({ isActive }) => isActive)
  if (active.length === 0)
    return ["the webhook of the repository is not active; activate it in its settings, after its deliveries succeed"]
  return [...lackingEvents(kind, active), ...failingDeliveries(active)]
}

const lackingEvents = (kind: ForgeKind, hooks: ReadonlyArray<HostWebhook>): ReadonlyArray<string> => {
  const events = new Set(hooks.flatMap((hook) => hook.events))
  const lacking = events.has("*") ? [] : rows[kind].events.filter((event) => !events.has(event))
  return lacking.length === 0
    ? []
    : [`the webhook of the repository lacks the events ${lacking.join(", ")}; select them in its settings`]
}

/** An older failure that later deliveries followed is over. */
const failingDeliveries = (hooks: ReadonlyArray<HostWebhook>): ReadonlyArray<string> => {
  const deliveries = hooks.flatMap((hook) => hook.deliveries.slice(0, loggedDeliveries))
  const [newest] = deliveries
  if (newest === undefined || !isFailed(newest)) return []
  const failed = deliveries.filter(isFailed).length
  const status = newest.status === undefined ? "no response" : `status ${newest.status}`
  const at = newest.at === undefined ? "" : ` at ${newest.at}`
  return [
    `the host's log has ${failed} failed deliveries of the last ${deliveries.length}, the newest${at} with ${status}; ${remedy(newest.status)}`
  ]
}

const isFailed = ({ status }: LoggedDelivery): boolean => status === undefined || status < 200 || status >= 300

const remedy = (status: number | undefined): string => {
  if (status === undefined) return "check that the host reaches the address"
  if (status === 401) return "the secret of the webhook is not that of webhook_secret_env"
  if (status === 404) return "check the path of its URL, and that the trigger is enabled"
  return status >= 500 ? "see /readyz and the log of the service" : "see the log of the service"
}

const isOurs = (url: string): boolean => /\/webhooks\/[^/]+\/?$/.test(URL.parse(url)?.pathname ?? "")

const isSameAddress = (one: string, other: string): boolean => withoutSecrets(one) === withoutSecrets(other)

/** Returns scheme, host and path. */
const withoutSecrets = (url: string): string => {
  const { host, pathname, protocol } = URL.parse(url) ?? {}
  return `${protocol}//${host}${pathname?.replace(/\/$/, "")}`
}
