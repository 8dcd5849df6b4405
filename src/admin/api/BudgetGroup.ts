/** Defines the endpoint of budgets: what was spent against the caps of `llm.budget`. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { describe } from "./Describe.ts"
import { text, time } from "./Fields.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"

/** Maximum number of budgets in a response. */
export const maxBudgets = 500

const usd = (description: string) => Schema.Finite.annotate({ description: `${description}, in US dollars` })

const BudgetRecord = Schema.Struct({
  scope: Schema.Literals(["repository", "author", "team"]).annotate({ description: "Whose budget it is" }),
  name: text("Repository or author, after its trigger, or team"),
  window: Schema.Literal("day").annotate({ description: "A UTC day" }),
  limit_usd: Schema.NullOr(usd("Cap of the configuration")).annotate({ description: "Null: no cap is configured" }),
  spent_usd: usd("Cost of ended calls"),
  reserved_usd: usd("Estimates of calls in flight"),
  resets_at: time("End of the window")
}).annotate({ identifier: "Budget", description: "Spend of a repository, an author or a team today, against its cap" })
type BudgetRecord = typeof BudgetRecord.Type

export class BudgetGroup extends HttpApiGroup.make("budgets")
  .add(
    HttpApiEndpoint.get("list", "/budgets", {
      success: Schema.Struct({
        items: Schema.Array(BudgetRecord),
        per_run_limit_usd: Schema.NullOr(usd("Cap of each run")).annotate({ description: "Null: no cap is configured" })
      })
    }).annotateMerge(
      describe(
        "List budgets",
        `Lists what repositories, authors and teams spent today (UTC), at most ${maxBudgets}, those that spent most first.`
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Budgets", description: "Spend against the caps" })) {}
