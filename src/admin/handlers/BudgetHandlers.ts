/** Handles requests about budgets. */
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { dayCap } from "../../config/DayCaps.ts"
import { Ledger } from "../../store/Ledger.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { maxBudgets } from "../api/BudgetGroup.ts"
import { orUnavailable } from "./Available.ts"
import { toTime } from "../views/Views.ts"

const dayMillis = Duration.toMillis("1 day")

const list = Effect.gen(function* () {
  const { budget } = (yield* ConfigStore).current().document.llm
  const now = yield* Clock.currentTimeMillis
  const accounts = yield* (yield* Ledger).listDay(toTime(now).slice(0, 10), maxBudgets)
  const resetsAt = toTime(now - (now % dayMillis) + dayMillis)
  return {
    items: accounts.map(({ kind, name, reservedUsd, spentUsd }) => ({
      scope: kind,
      name,
      window: "day" as const,
      limit_usd: dayCap(budget, kind, name) ?? null,
      spent_usd: spentUsd,
      reserved_usd: reservedUsd,
      resets_at: resetsAt
    })),
    per_run_limit_usd: budget.per_run_usd ?? null
  }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "budgets", (handlers) =>
  handlers.handle("list", () => orUnavailable(list))
)
