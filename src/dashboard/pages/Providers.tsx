/** Model providers: how many calls each takes, what it refuses and until when it is paused, and the end of a pause. */
import type { Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatCount, formatUsd } from "../text/Format.ts"
import { t, tValue } from "../text/T.ts"
import "../text/PagedTexts.ts"

type Provider = Item<"GET /providers">

const State = ({ state }: Pick<Provider, "state">) => {
  if (state === null) return <Status group="providerState" value="unreported" />
  const { pause_cause: cause, paused_until: until } = state
  if (until === undefined) return <Status group="providerState" value="active" />
  return (
    <>
      <Status group="providerState" value="paused" />
      <p className="quiet">
        <Time at={until} />
        {cause === undefined ? "" : `: ${tValue("providerPause", cause)}`}
      </p>
    </>
  )
}

const describeErrors = ({ errors }: NonNullable<Provider["state"]>): string =>
  errors.length === 0
    ? t("providers.errors.none")
    : errors.map(({ count, reason }) => `${tValue("providerError", reason)} ${formatCount(count)}`).join(", ")

const ProviderRow = ({ provider }: { readonly provider: Provider }) => {
  const { cost_today_usd: cost, id, kind, rate_limit_rps: rate, state } = provider
  const resume = useNoticedAction("POST /providers/:id/resume", ["GET /providers"])
  const start = () => resume.run({ params: { id } }, () => t("providers.resumed", { name: id }))
  return (
    <tr>
      <td>
        <strong>{id}</strong> <span className="quiet">{kind}</span>
      </td>
      <td>
        <State state={state} />
      </td>
      <td className="end">
        {state === null ? "–" : t("providers.use.value", { used: state.in_use, limit: state.concurrency })}
        {rate === null ? null : <p className="quiet">{t("providers.rate", { rate })}</p>}
      </td>
      <td className="end">{state === null ? "–" : formatCount(state.waiting)}</td>
      <td>{state === null ? "–" : describeErrors(state)}</td>
      <td className="end">{state === null ? "–" : formatCount(state.responses)}</td>
      <td className="end">{state === null ? "–" : formatCount(state.tokens_per_minute)}</td>
      <td className="end">{formatUsd(cost)}</td>
      <td className="end">{state === null ? "–" : <Time at={state.counted_since} />}</td>
      <td className="end">
        {state?.paused_until === undefined ? null : (
          <ActionButton
            action="POST /providers/:id/resume"
            className="small"
            onClick={start}
            disabled={resume.isPending}
            aria-label={`${t("queue.resume")} ${id}`}
          >
            {t("queue.resume")}
          </ActionButton>
        )}
      </td>
    </tr>
  )
}

export const Providers = () => {
  const query = useApi("GET /providers", {}, { refetchInterval: 5000 })
  return (
    <Page title={t("page.providers")} note={t("providers.note")}>
      <Loaded query={query}>
        {({ items }) => (
          <TablePanel
            title={t("providers.count", { count: items.length })}
            label={t("page.providers")}
            heads={[
              { label: t("providers.name") },
              { label: t("column.status") },
              { label: t("providers.use"), end: true },
              { label: t("providers.waiting"), end: true },
              { label: t("providers.errors") },
              { label: t("providers.responses"), end: true },
              { label: t("providers.tokens"), end: true },
              { label: t("providers.cost"), end: true },
              { label: t("providers.since"), end: true },
              { label: t("column.actions"), hidesLabel: true }
            ]}
            empty={<Empty title={t("providers.empty")} />}
            rows={items.map((provider) => (
              <ProviderRow key={provider.id} provider={provider} />
            ))}
          />
        )}
      </Loaded>
    </Page>
  )
}
