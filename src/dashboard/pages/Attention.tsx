/** What an operator should look at, each with a link to the page that shows more. Nothing is shown while everything is in order. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useApi, usePages } from "../client/Queries.ts"
import { Shape } from "../parts/Status.tsx"
import type { Tone } from "../parts/Status.tsx"
import { useNow } from "../parts/Time.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import {
  brokenConnections,
  brokenHooks,
  countRejected,
  countWaiting,
  silentTriggers,
  usedBudgets
} from "./AttentionFacts.ts"
import { describeRefused } from "./Nodes.tsx"
import { sum } from "./Numbers.ts"
import { failedStatuses, runningStatuses } from "./RunStates.ts"

interface Item {
  readonly key: string
  readonly tone: Tone
  readonly content: ReactNode
}

const dayMillis = 86_400_000

/** Rounded to an hour, so that the request stays the same. */
const dayAgo = (now: number): string => new Date(Math.floor((now - dayMillis) / 3_600_000) * 3_600_000).toISOString()

/** Triggers whose deliveries ended or whose webhooks are broken, and publications that wait because a host refuses the credential of a trigger. */
const useTriggers = (): ReadonlyArray<Item | undefined> => {
  const triggers = useApi("GET /triggers", {}).data?.items ?? []
  const silent = silentTriggers(triggers)
  const hooks = brokenHooks(triggers)
  const waiting = triggers.filter(({ waiting_publications: count }) => count > 0)
  const count = formatCount(sum(waiting.map(({ waiting_publications: one }) => one)))
  const names = waiting.map(({ name }) => name).join(", ")
  return [
    waiting.length === 0
      ? undefined
      : {
          key: "credentials",
          tone: "bad",
          content: <Link to="/setup">{t("attention.credentials", { count, names })}</Link>
        },
    hooks.count === 0
      ? undefined
      : {
          key: "hooks",
          tone: "bad",
          content: (
            <Link to="/setup">
              {t("attention.hooks", { count: formatCount(hooks.count), names: hooks.names.join(", ") })}
            </Link>
          )
        },
    silent.length === 0
      ? undefined
      : {
          key: "silent",
          tone: "warn",
          content: <Link to="/setup">{t("attention.silent", { names: silent.join(", ") })}</Link>
        }
  ]
}

/** Warnings about nodes that concern more than an upgrade under way. */
const shownWarnings: ReadonlySet<string> = new Set(["RoleUnserved", "TemplatesRefused"])

/** Credentials and model providers that reviews wait for. The overview lists the running reviews, and so reads them once. */
const useProviders = (): ReadonlyArray<Item> => {
  const { hasNextPage, items } = usePages("GET /runs", { query: { status: runningStatuses } })
  return countWaiting(items).map(([reason, count]) => ({
    key: reason,
    tone: "bad",
    content: (
      <Link
        to={reason === "AwaitsCredential" ? "/runs" : "/providers"}
        search={reason === "AwaitsCredential" ? { status: runningStatuses } : {}}
      >
        {t(`attention.${reason}`, { count: `${formatCount(count)}${hasNextPage ? "+" : ""}` })}
      </Link>
    )
  }))
}

const shownNames = 3

/** Budgets that are used up. The overview shows the budgets, and so reads them once. */
const useBudgets = (): Item | undefined => {
  const used = usedBudgets(useApi("GET /budgets", {}).data?.items ?? [])
  if (used.length === 0) return undefined
  const names = used.slice(0, shownNames).map(({ name }) => name)
  const more = used.length > shownNames ? ["…"] : []
  return {
    key: "budgets",
    tone: "warn",
    content: (
      <Link to="/configuration">
        {t("attention.budgets", { count: formatCount(used.length), names: [...names, ...more].join(", ") })}
      </Link>
    )
  }
}

/** Chat connections that do not work. Nodes report them every 30 seconds. */
const useChat = (): Item | undefined => {
  const connections = useApi("GET /chat/connections", {}, { refetchInterval: 60_000 })
  const broken = brokenConnections(connections.data?.items ?? [])
  if (broken.length === 0) return undefined
  return {
    key: "chat",
    tone: "bad",
    content: <Link to="/chat">{t("attention.chat", { names: broken.map(({ id }) => id).join(", ") })}</Link>
  }
}

/** Deliveries that nothing came of, because of a set-up that differs from that of the host. */
const useDeliveries = (since: string): ReadonlyArray<Item | undefined> => {
  const rejected = useApi("GET /rejected-signatures", { query: { since } })
  const reasons = useApi("GET /events/reasons", { query: { since } })
  const wrong = countRejected(rejected.data?.items ?? [])
  const ignored = (
    key: "renamed" | "unconfigured",
    tone: Item["tone"],
    name: "repository_not_configured" | "repository_renamed"
  ): Item | undefined => {
    const count = sum((reasons.data?.items ?? []).filter(({ reason }) => reason === name).map((item) => item.count))
    if (count === 0) return undefined
    const text = t(`attention.${key}`, { count: formatCount(count) })
    return {
      key,
      tone,
      content: (
        <Link to="/deliveries" search={{ decision: "ignored", reason: name }}>
          {text}
        </Link>
      )
    }
  }
  return [
    wrong === 0
      ? undefined
      : {
          key: "signatures",
          tone: "bad",
          content: <Link to="/setup">{t("attention.signatures", { count: formatCount(wrong) })}</Link>
        },
    ignored("renamed", "bad", "repository_renamed"),
    ignored("unconfigured", "warn", "repository_not_configured")
  ]
}

const useItems = (): ReadonlyArray<Item | undefined> => {
  const since = dayAgo(useNow())
  const failed = usePages("GET /runs", { query: { status: failedStatuses, since } })
  const dead = useApi("GET /queue", { query: { status: "dead" } })
  const queue = useApi("GET /queue", {})
  const triggers = useTriggers()
  const providers = useProviders()
  const budgets = useBudgets()
  const chat = useChat()
  const deliveries = useDeliveries(since)
  const nodes = useApi("GET /nodes", {}, { refetchInterval: 15_000 })
  const refused = new Set(nodes.data?.items.flatMap((node) => node.refused.map(describeRefused)))
  const warnings = (nodes.data?.warnings ?? []).filter(({ _tag }) => shownWarnings.has(_tag))
  const behind = (nodes.data?.items ?? []).flatMap(({ differs, name }) => (differs.length === 0 ? [] : [name]))
  const pauses = queue.data?.pauses ?? []
  const more = failed.hasNextPage ? "+" : ""
  return [
    refused.size === 0
      ? undefined
      : {
          key: "refused",
          tone: "bad",
          content: <Link to="/nodes">{t("attention.refused", { names: [...refused].join(", ") })}</Link>
        },
    warnings.length === 0
      ? undefined
      : { key: "nodes", tone: "bad", content: <Link to="/nodes">{warnings.map(tReason).join(". ")}</Link> },
    behind.length === 0
      ? undefined
      : {
          key: "behind",
          tone: "warn",
          content: <Link to="/nodes">{t("attention.behind", { names: behind.join(", ") })}</Link>
        },
    failed.items.length === 0
      ? undefined
      : {
          key: "failed",
          tone: "bad",
          content: (
            <Link to="/runs" search={{ status: failedStatuses, since }}>
              {t("attention.failed", { count: `${formatCount(failed.items.length)}${more}` })}
            </Link>
          )
        },
    (dead.data?.by_status.dead ?? 0) === 0
      ? undefined
      : {
          key: "dead",
          tone: "bad",
          content: (
            <Link to="/queue" search={{ status: "dead" }}>
              {t("attention.dead", { count: formatCount(dead.data?.by_status.dead ?? 0) })}
            </Link>
          )
        },
    pauses.length === 0
      ? undefined
      : {
          key: "paused",
          tone: "warn",
          content: (
            <Link to="/queue">{t("attention.paused", { names: pauses.map(({ name }) => name).join(", ") })}</Link>
          )
        },
    ...providers,
    budgets,
    chat,
    ...triggers,
    ...deliveries
  ]
}

export const Attention = () => {
  const items = useItems().filter((item) => item !== undefined)
  if (items.length === 0) return null
  return (
    <section className="attention" aria-label={t("attention.title")}>
      <ul>
        {items.map(({ content, key, tone }) => (
          <li key={key} className={`tone-${tone}`}>
            <Shape tone={tone} />
            {content}
          </li>
        ))}
      </ul>
    </section>
  )
}
