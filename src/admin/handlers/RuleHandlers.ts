/** Handles requests about rules of repositories. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ruleState } from "../../domain/RuleHealth.ts"
import { ProjectRules } from "../../store/ProjectRules.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { ruleHealth } from "../api/RuleGroup.ts"
import { orUnavailable } from "./Available.ts"

export const layer = HttpApiBuilder.group(AdminHttpApi, "rules", (handlers) =>
  handlers.handle("list", ({ query }) =>
    ProjectRules.use(({ health }) => health(query)).pipe(
      Effect.map((found) => ({ items: found.map((rule) => ({ ...ruleHealth.view(rule), state: ruleState(rule) })) })),
      orUnavailable
    )
  )
)
