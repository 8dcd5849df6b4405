/** What repositories and authors spent today, against their caps. */
import { useApi } from "../client/Queries.ts"
import type { Item } from "../client/Endpoints.ts"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatUsd } from "../text/Format.ts"
import { t } from "../text/T.ts"
import { usedShare } from "./AttentionFacts.ts"

type Budget = Item<"GET /budgets">

const shownBudgets = 8
/** Share of a cap from which the bar warns. */
const warning = 0.8

const Bar = ({ budget }: { readonly budget: Budget }) => {
  const { limit_usd: limit, name, reserved_usd: reserved, spent_usd: spent } = budget
  const share = usedShare(budget)
  if (share === undefined) return <span className="quiet">{t("budget.none")}</span>
  return (
    <progress
      className={share >= 1 ? "tone-bad" : share >= warning ? "tone-warn" : "tone-good"}
      max={1}
      value={share}
      aria-label={t("budget.used", { name, used: formatUsd(spent + reserved), limit: formatUsd(limit) })}
    />
  )
}

export const Budgets = () => {
  const query = useApi("GET /budgets", {}, { refetchInterval: 30_000 })
  return (
    <Loaded query={query}>
      {({ items, per_run_limit_usd: perRun }) => {
        const [first] = items
        return (
          <Panel
            title={t("budget.title")}
            note={
              <>
                {perRun === null ? t("budget.run.none") : t("budget.run", { limit: formatUsd(perRun) })}{" "}
                {first === undefined ? null : (
                  <>
                    {t("budget.resets")} <Time at={first.resets_at} />
                  </>
                )}
              </>
            }
            flush
          >
            {items.length === 0 ? (
              <Empty title={t("budget.empty")} />
            ) : (
              <ul className="rows budgets">
                {items.slice(0, shownBudgets).map((budget) => (
                  <li key={`${budget.scope} ${budget.name}`}>
                    <span className="quiet">{t(`budget.${budget.scope}`)}</span>
                    <div className="budget">
                      <span className="break">{budget.name}</span>
                      <Bar budget={budget} />
                    </div>
                    <span>
                      {formatUsd(budget.spent_usd)}
                      {budget.limit_usd === null ? "" : ` / ${formatUsd(budget.limit_usd)}`}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Panel>
        )
      }}
    </Loaded>
  )
}
