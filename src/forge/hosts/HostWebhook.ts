/** Finds what is wrong with the webhooks of a repository, as the host lists them, with the next step. Pure. */
import type { ForgeKind } from "../../domain/Kinds.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import { listEvents } from "../../domain/WebhookSetup.ts"

/** A webhook as the API of a host lists it. */
export interface HostWebhook {
  /** May contain credentials. */
  readonly url: string
  readonly isActive: boolean
  readonly events: ReadonlyArray<string>
  /** Latest deliveries, newest first, as the host's log has them; empty where the host has none. */
  readonly deliveries: ReadonlyArray<LoggedDelivery>
}

interface LoggedDelivery {
  /** Status of the response; undefined if there was none. */
  readonly status: number | undefined
  readonly at: string | undefined
}

/** Deliveries of the log that are considered. */
export const loggedDeliveries = 10

/**
 * Returns the problems of the webhooks that point to this service; empty if one is complete. `addresses` are the URLs at which
 * the service receives deliveries of this host; empty where the configuration has none.
 */
export const listWebhookProblems = (
  kind: ForgeKind,
  hooks: ReadonlyArray<HostWebhook>,
  addresses: ReadonlyArray<string>
): ReadonlyArray<Reason> => {
  const [address] = addresses
  const own = hooks.filter(({ url }) => isOurs(url))
  if (own.length === 0)
    return [{ _tag: "NoWebhook", url: address === undefined ? { _tag: "AnyWebhookPath" } : verbatimReason(address) }]
  const addressed =
    address === undefined ? own : own.filter(({ url }) => addresses.some((one) => isSameAddress(url, one)))
  if (addressed.length === 0)
    return [{ _tag: "WebhookElsewhere", urls: own.map(({ url }) => withoutSecrets(url)), address: address ?? "" }]
  const active = addressed.filter(({ isActive }) => isActive)
  if (active.length === 0) return [{ _tag: "WebhookInactive" }]
  return [...lackingEvents(kind, active), ...failingDeliveries(active)]
}

const lackingEvents = (kind: ForgeKind, hooks: ReadonlyArray<HostWebhook>): ReadonlyArray<Reason> => {
  const events = new Set(hooks.flatMap((hook) => hook.events))
  const lacking = events.has("*") ? [] : listEvents(kind, ["reviews"]).flatMap(({ id }) => (events.has(id) ? [] : [id]))
  return lacking.length === 0 ? [] : [{ _tag: "WebhookLacksEvents", events: lacking }]
}

/** An older failure that later deliveries followed is over. */
const failingDeliveries = (hooks: ReadonlyArray<HostWebhook>): ReadonlyArray<Reason> => {
  const deliveries = hooks.flatMap((hook) => hook.deliveries.slice(0, loggedDeliveries))
  const [newest] = deliveries
  if (newest === undefined || !isFailed(newest)) return []
  const { at, status } = newest
  return [
    {
      _tag: "DeliveriesFailed",
      count: deliveries.filter(isFailed).length,
      total: deliveries.length,
      at,
      response: status === undefined ? { _tag: "NoResponse" } : { _tag: "StatusCode", status },
      advice: adviceFor(status)
    }
  ]
}

const isFailed = ({ status }: LoggedDelivery): boolean => status === undefined || status < 200 || status >= 300

const adviceFor = (status: number | undefined): Reason => {
  if (status === undefined) return { _tag: "CheckReach" }
  if (status === 401) return { _tag: "SecretDiffers" }
  if (status === 404) return { _tag: "CheckPath" }
  return status >= 500 ? { _tag: "SeeReadiness" } : { _tag: "SeeLog" }
}

const isOurs = (url: string): boolean => /\/webhooks\/[^/]+\/?$/.test(URL.parse(url)?.pathname ?? "")

const isSameAddress = (one: string, other: string): boolean => withoutSecrets(one) === withoutSecrets(other)

/** Returns scheme, host and path. */
const withoutSecrets = (url: string): string => {
  const { host, pathname, protocol } = URL.parse(url) ?? {}
  return `${protocol}//${host}${pathname?.replace(/\/$/, "")}`
}
