/** Waits for the first delivery of each trigger of a git host, and shows that it arrived, or that its secret was wrong. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { Panel } from "../parts/Panel.tsx"
import { Shape } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { isForgeKind } from "../../domain/Kinds.ts"
import { formatCount } from "../text/Format.ts"
import { t } from "../text/T.ts"
import { WebhookFacts } from "./WebhookFacts.tsx"

type Trigger = Item<"GET /triggers">

/** Accepted deliveries refresh the page by themselves; those with a wrong signature cause no event. */
const pollMillis = 5000

const Progress = ({ trigger }: { readonly trigger: Trigger }) => {
  const { last_accepted_at: accepted, last_delivery_at: at, name, rejected_signatures_24h: rejected } = trigger
  const deliveries = (
    <Link to="/deliveries" search={{ trigger: name }}>
      {t("page.deliveries")}
    </Link>
  )
  if (at !== undefined)
    return (
      <p role="status">
        <Shape tone="good" /> {t(accepted === undefined ? "first.ignored" : "first.arrived")} <Time at={at} />{" "}
        {deliveries}
      </p>
    )
  return (
    <p role="status">
      <Shape tone={rejected === 0 ? "busy" : "bad"} />{" "}
      {rejected === 0 ? t("first.waiting") : t("first.rejected", { count: formatCount(rejected) })}
    </p>
  )
}

export const FirstDelivery = () => {
  const { data } = useApi("GET /triggers", {}, { refetchInterval: pollMillis })
  // Those that waited since the page was opened.
  const [waited] = useState(() => new Set<string>())
  const shown = (data?.items ?? []).flatMap((trigger) => {
    const { enabled, kind, last_delivery_at: at, name } = trigger
    if (!enabled || !isForgeKind(kind)) return []
    if (at === undefined) waited.add(name)
    return waited.has(name) ? [{ kind, trigger }] : []
  })
  if (shown.length === 0) return null
  return (
    <Panel title={t("first.title")} note={t("first.note")}>
      {shown.map(({ kind, trigger }) => (
        <details key={trigger.name} className="more" open={shown.length === 1}>
          <summary>
            {trigger.name} <span className="quiet">{trigger.base_url}</span>
          </summary>
          <Progress trigger={trigger} />
          <WebhookFacts kind={kind} />
        </details>
      ))}
    </Panel>
  )
}
