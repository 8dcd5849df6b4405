/** Defines the endpoint of rules: how often those of repositories were used, and what became of their findings. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { RuleHealth, ruleStates } from "../../domain/RuleHealth.ts"
import { maxListedRules } from "../../store/ProjectRules.ts"
import { describe } from "./Describe.ts"
import { text } from "./Fields.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"
import { shown } from "./Shown.ts"

export const ruleHealth = shown(RuleHealth, {
  repository: "Trigger and full name of the repository, in lower case",
  id: "Id of the rule",
  severity: "Least severity of its findings",
  owner: "Owner, as its file names it",
  floor: "Share of accepted findings, 0 to 1, below which prompts omit it",
  used: "Number of reviews with the rule in their prompt",
  findings: "Number of published findings that cite it",
  accepted: "Those that were repaired, at least in part",
  dismissed: "Those that people dismissed",
  ignored: "Those that were open when their change was merged",
  judged:
    "Findings that maintainers decided about: dismissed by one, or repaired or left open in a change that one merged",
  judgedAccepted: "Those of them that were repaired",
  firstUsedAt: "Time of the first review to which it applied with its present content; nothing before it is counted",
  lastUsedAt: "Time of the last one",
  mutedAt: "Time of the first review that omitted it; absent unless it is muted"
})
const RuleRecord = Schema.Struct({
  ...ruleHealth.fields,
  state: Schema.Literals(ruleStates).annotate({
    description: "`active`; `silent`: used, and no finding cites it; `muted`: omitted from prompts"
  })
}).annotate({ identifier: "ProjectRule", description: "A rule of a repository (.aicr/rules) and its health" })

export class RuleGroup extends HttpApiGroup.make("rules")
  .add(
    HttpApiEndpoint.get("list", "/rules", {
      query: {
        repository: Schema.optionalKey(text("Only rules of this repository, TRIGGER:OWNER/NAME in lower case"))
      },
      success: Schema.Struct({ items: Schema.Array(RuleRecord) })
    }).annotateMerge(
      describe("List rules", `Lists rules that applied to a review, at most ${maxListedRules}, by repository and id.`)
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Rules", description: "Rules of repositories and their health" })) {}
