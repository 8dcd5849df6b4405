/** What an operator should look at, each with a link to the page that shows more. Nothing is shown while everything is in order. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Item as ApiItem } from "../client/Endpoints.ts"
import { useApi, usePages } from "../client/Queries.ts"
import { Shape } from "../parts/Status.tsx"
import type { Tone } from "../parts/Status.tsx"
import { useNow } from "../parts/Time.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import { describeRefused } from "./Nodes.tsx"
import { sum } from "./Numbers.ts"
import { failedStatuses } from "./RunStates.ts"

type RejectedItem = ApiItem<"GET /rejected-signatures">

interface Item {
  readonly key: string
  readonly tone: Tone
  readonly content: ReactNode
}

const dayMillis = 86_400_000

/** Rounded to an hour, so that the request stays the same. */
const dayAgo = (now: number): string => new Date(Math.floor((now - dayMillis) / 3_600_000) * 3_600_000).toISOString()

/** A delivery that no trigger verified is counted at every trigger of its host: the most of an hour is the number of deliveries. */
const countRejected = (items: ReadonlyArray<RejectedItem>): number => {
  const most = new Map<string, number>()
  for (const { count, hour, provider } of items) {
    const key = `${hour} ${provider}`
    most.set(key, Math.max(most.get(key) ?? 0, count))
  }
  return sum([...most.values()])
}

/** Publications that wait because a host refuses the credential of a trigger. */
const useCredentials = (): Item | undefined => {
  const triggers = useApi("GET /triggers", {})
  const waiting = (triggers.data?.items ?? []).filter(({ waiting_publications: count }) => count > 0)
  if (waiting.length === 0) return undefined
  const count = formatCount(sum(waiting.map(({ waiting_publications: one }) => one)))
  const names = waiting.map(({ name }) => name).join(", ")
  return {
    key: "credentials",
    tone: "bad",
    content: <Link to="/setup">{t("attention.credentials", { count, names })}</Link>
  }
}

/** Warnings about nodes that concern more than an upgrade under way. */
const shownWarnings: ReadonlySet<string> = new Set(["RoleUnserved", "TemplatesRefused"])

const useItems = (): ReadonlyArray<Item | undefined> => {
  const since = dayAgo(useNow())
  const failed = usePages("GET /runs", { query: { status: failedStatuses, since } })
  const dead = useApi("GET /queue", { query: { status: "dead" } })
  const queue = useApi("GET /queue", {})
  const rejected = useApi("GET /rejected-signatures", { query: { since } })
  const reasons = useApi("GET /events/reasons", { query: { since } })
  const credentials = useCredentials()
  const nodes = useApi("GET /nodes", {}, { refetchInterval: 15_000 })
  const refused = new Set(nodes.data?.items.flatMap((node) => node.refused.map(describeRefused)))
  const warnings = (nodes.data?.warnings ?? []).filter(({ _tag }) => shownWarnings.has(_tag))
  const pauses = queue.data?.pauses ?? []
  const wrong = countRejected(rejected.data?.items ?? [])
  const unconfigured = sum(
    (reasons.data?.items ?? []).filter(({ reason }) => reason === "repository_not_configured").map(({ count }) => count)
  )
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
    credentials,
    wrong === 0
      ? undefined
      : {
          key: "signatures",
          tone: "bad",
          content: <Link to="/setup">{t("attention.signatures", { count: formatCount(wrong) })}</Link>
        },
    unconfigured === 0
      ? undefined
      : {
          key: "unconfigured",
          tone: "warn",
          content: (
            <Link to="/deliveries" search={{ decision: "ignored", reason: "repository_not_configured" }}>
              {t("attention.unconfigured", { count: formatCount(unconfigured) })}
            </Link>
          )
        }
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
