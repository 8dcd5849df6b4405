/** Finds the webhook of this service among those that a host lists, and what is wrong with it, with the next step. Pure. */
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { HostHook, HookDelivery } from "./HostHooks.ts"

/** A webhook that the service needs. */
export interface WantedHook {
  /** URLs at which the service receives deliveries of the host, the preferred one first; empty where the configuration has none. */
  readonly addresses: ReadonlyArray<string>
  /** Names of events in the API of the host. */
  readonly events: ReadonlyArray<string>
  /** Id of the webhook that the service wrote in this scope. */
  readonly writtenId: string | undefined
  /**
   * Whether the secret of that webhook is the current one: undefined if the service wrote none, because no host returns a secret. Then a
   * delivery that was refused with 401 proves another secret.
   */
  readonly hasSecret: boolean | undefined
}

interface ListedHook extends HostHook {
  /** Latest deliveries, newest first, as the host's log has them; empty where the host has none. */
  readonly deliveries: ReadonlyArray<HookDelivery>
}

export interface JudgedHook {
  /** The webhook of the service, which may be broken; undefined: there is none. */
  readonly hook: ListedHook | undefined
  /** Empty for a complete webhook. */
  readonly problems: ReadonlyArray<Reason>
  /** Whether an update of the webhook solves a problem. */
  readonly isRepairable: boolean
}

/**
 * Returns whether a webhook belongs to this service: it has its address, or another path for webhooks below its address, or the service
 * wrote it. Without an address every path of webhooks counts, for reports only.
 */
export const isOurHook = ({ id, url }: HostHook, { addresses, writtenId }: WantedHook): boolean =>
  addresses.length === 0
    ? hasWebhookPath(url)
    : id === writtenId || addresses.some((address) => isSameAddress(url, address) || isNear(url, address))

/** Judges the webhooks of a scope: those of the service first, of several the best one. */
export const judgeHooks = (hooks: ReadonlyArray<ListedHook>, wanted: WantedHook): JudgedHook => {
  const own = hooks.filter((hook) => isOurHook(hook, wanted))
  if (own.length === 0) return { hook: undefined, problems: [findNone(hooks, wanted)], isRepairable: false }
  // Several webhooks may share the events.
  const events = new Set(own.filter((hook) => isReceived(hook, wanted)).flatMap((hook) => hook.events))
  const [best, second] = own
    .map((hook) => judge(hook, new Set([...hook.events, ...events]), wanted))
    .toSorted((one, other) => one.problems.length - other.problems.length)
  if (best === undefined || second === undefined || best.problems.length > 0) return best ?? none
  const isComplete = (hook: ListedHook | undefined) =>
    hook !== undefined && lackingEvents(new Set(hook.events), wanted).length === 0
  const isTwice = second.problems.length === 0 && isComplete(best.hook) && isComplete(second.hook)
  return isTwice ? { ...best, problems: [{ _tag: "WebhookTwice" }] } : best
}

const none: JudgedHook = { hook: undefined, problems: [], isRepairable: false }

const findNone = (hooks: ReadonlyArray<HostHook>, { addresses: [address] }: WantedHook): Reason => {
  const elsewhere = hooks.filter(({ url }) => hasWebhookPath(url))
  return address === undefined || elsewhere.length === 0
    ? { _tag: "NoWebhook", url: address === undefined ? { _tag: "AnyWebhookPath" } : verbatimReason(address) }
    : { _tag: "WebhookElsewhere", urls: elsewhere.map(({ url }) => withoutSecrets(url)), address }
}

const isAddressed = ({ url }: HostHook, { addresses }: WantedHook): boolean =>
  addresses.length === 0 || addresses.some((address) => isSameAddress(url, address))

const isReceived = (hook: HostHook, wanted: WantedHook): boolean => hook.isActive && isAddressed(hook, wanted)

const lackingEvents = (events: ReadonlySet<string>, { events: needed }: WantedHook): ReadonlyArray<string> =>
  events.has("*") ? [] : needed.filter((event) => !events.has(event))

const judge = (hook: ListedHook, events: ReadonlySet<string>, wanted: WantedHook): JudgedHook => {
  const lacking = lackingEvents(events, wanted)
  const isStale = hook.id === wanted.writtenId && wanted.hasSecret !== undefined ? !wanted.hasSecret : isRefused(hook)
  const repairable: ReadonlyArray<Reason> = [
    ...(isAddressed(hook, wanted)
      ? []
      : [
          {
            _tag: "WebhookElsewhere" as const,
            urls: [withoutSecrets(hook.url)],
            address: wanted.addresses[0] ?? ""
          }
        ]),
    ...(hook.isActive ? [] : [{ _tag: "WebhookInactive" as const }]),
    ...(lacking.length === 0 ? [] : [{ _tag: "WebhookLacksEvents" as const, events: lacking }]),
    ...(hook.contentType === undefined || hook.contentType === "json"
      ? []
      : [{ _tag: "WebhookContentType" as const, type: hook.contentType }]),
    ...(isStale && !isRefused(hook) ? [{ _tag: "SecretDiffers" as const }] : [])
  ]
  const failing = failingDeliveries(hook.isActive ? hook.deliveries : [])
  return { hook, problems: [...repairable, ...failing], isRepairable: repairable.length > 0 || isStale }
}

const isRefused = ({ deliveries: [newest] }: ListedHook): boolean => newest?.status === 401

/** An older failure that later deliveries followed is over. */
const failingDeliveries = (logged: ReadonlyArray<HookDelivery>): ReadonlyArray<Reason> => {
  const [newest] = logged
  if (newest === undefined || !isFailed(newest)) return []
  const { at, status } = newest
  return [
    {
      _tag: "DeliveriesFailed",
      count: logged.filter(isFailed).length,
      total: logged.length,
      at,
      response: status === undefined ? { _tag: "NoResponse" } : { _tag: "StatusCode", status },
      advice: adviceFor(status)
    }
  ]
}

const isFailed = ({ status }: HookDelivery): boolean => status === undefined || status < 200 || status >= 300

const adviceFor = (status: number | undefined): Reason => {
  if (status === undefined) return { _tag: "CheckReach" }
  if (status === 401) return { _tag: "SecretDiffers" }
  if (status === 404) return { _tag: "CheckPath" }
  return status >= 500 ? { _tag: "SeeReadiness" } : { _tag: "SeeLog" }
}

const hasWebhookPath = (url: string): boolean => /\/webhooks\/[^/]+\/?$/.test(URL.parse(url)?.pathname ?? "")

const isSameAddress = (one: string, other: string): boolean => withoutSecrets(one) === withoutSecrets(other)

/** Whether a URL has the server of an address, and a path for webhooks below the same prefix, or without it. */
const isNear = (url: string, address: string): boolean => {
  const [given, own] = [URL.parse(url), URL.parse(address)]
  if (given === null || own === null || given.host !== own.host) return false
  const prefix = own.pathname.replace(/\/webhooks\/[^/]+$/, "")
  const path = given.pathname.replace(/\/$/, "")
  const below = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  return prefix === "" || below !== path
    ? /^\/webhooks?(?:\/[^/]*)?$/.test(below)
    : path === own.pathname.slice(prefix.length)
}

/** Returns scheme, host and path. */
const withoutSecrets = (url: string): string => {
  const { host, pathname, protocol } = URL.parse(url) ?? {}
  return `${protocol}//${host}${pathname?.replace(/\/$/, "")}`
}
