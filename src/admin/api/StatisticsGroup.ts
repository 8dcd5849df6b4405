/** Defines the endpoints of statistics. The fields are defined in src/domain/StatisticsJson.ts. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { BucketJson, ModelJson, PeriodJson, ProjectJson, WindowsJson } from "../../domain/StatisticsJson.ts"
import { describe } from "./Describe.ts"
import { time as timeField } from "./Fields.ts"
import { allowOne, page, paging, text, time } from "./Parameters.ts"
import { StateConflict } from "./Problems.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"
import { FindingGroup, FindingGrouping } from "../../store/Outcomes.ts"
import { PeriodScope } from "../../store/Statistics.ts"
import { ListedOutcomeRecord, Run } from "./RunRecords.ts"
import { shown } from "./Shown.ts"

const grouped = shown(FindingGroup, {
  name: "Category, severity, rule, `trigger:owner/name`, workspace, team, or author as `trigger:account`",
  found: "Number of findings that were found in the period",
  fixed: "Number of those that were fixed",
  dismissed: "Number of those that were dismissed",
  withdrawn: "Number of those that were withdrawn",
  foundBefore: "Number of findings that were found in the period before",
  fixedBefore: "Number of those that were fixed",
  dismissedBefore: "Number of those that were dismissed"
})
export const groupedView = grouped.view
const GroupedFindings = Schema.Struct(grouped.fields).annotate({
  identifier: "GroupedFindings",
  description: "Findings of one group with what became of them"
})

const team = Schema.optionalKey(text("Team (`workspaces.instances.<id>.team`)"))
const found = {
  since: Schema.optionalKey(
    time("A time in ISO 8601: findings that were found since then. Default: 30 days before `until`")
  ),
  until: Schema.optionalKey(time("A time in ISO 8601: findings that were found before. Default: now"))
}
const FoundGroups = Schema.Struct({
  since: timeField("Beginning of the period"),
  until: timeField("End of the period"),
  items: Schema.Array(GroupedFindings)
})

const since = Schema.optionalKey(time("A time in ISO 8601: runs since the beginning of its day (UTC). Default: all"))

export class StatisticsGroup extends HttpApiGroup.make("statistics")
  .add(
    HttpApiEndpoint.get("summary", "/stats", {
      success: Schema.Struct({
        generated_at: timeField("Time of this response"),
        timezone: Schema.Literal("UTC"),
        windows: WindowsJson,
        projects: Schema.Array(ProjectJson).annotate({
          description: "The 100 projects with the newest runs, of all time"
        }),
        providers: Schema.Array(ModelJson).annotate({ description: "At most 100 models, of all time" }),
        recent_runs: Schema.Array(Run).annotate({ description: "The 20 newest runs" })
      })
    }).annotateMerge(
      describe("Get statistics", "Returns sums of ended runs, which remain when retention removes the runs.")
    ),
    HttpApiEndpoint.get("periods", "/stats/periods", {
      query: {
        by: allowOne(PeriodScope, "Whose runs are summed"),
        since,
        until: Schema.optionalKey(time("A time in ISO 8601: runs until the end of its day (UTC). Default: now"))
      },
      success: Schema.Array(PeriodJson)
    }).annotateMerge(
      describe(
        "Compare periods",
        "Returns the sums of the instance, or of each team or workspace, in a period and in the same number of days before it, at most 1000, by name."
      )
    ),
    HttpApiEndpoint.get("projects", "/stats/projects", {
      query: { since, team },
      success: Schema.Array(ProjectJson)
    }).annotateMerge(
      describe(
        "List projects",
        "Returns at most 1000 projects with runs in the period, those with the newest runs first."
      )
    ),
    HttpApiEndpoint.get("providers", "/stats/providers", {
      query: { since },
      success: Schema.Array(ModelJson)
    }).annotateMerge(
      describe("List models", "Returns at most 1000 models of providers with runs in the period, by name.")
    ),
    HttpApiEndpoint.get("outcomes", "/stats/outcomes", {
      query: {
        since: Schema.optionalKey(time("A time in ISO 8601: findings that were found since then. Default: all")),
        ...paging
      },
      success: Schema.Struct(page(ListedOutcomeRecord))
    }).annotateMerge(
      describe(
        "List outcomes of findings",
        "Lists the findings of pull requests with what became of them, by pull request."
      )
    ),
    HttpApiEndpoint.get("findings", "/stats/findings", {
      query: {
        by: allowOne(FindingGrouping, "What findings are counted by"),
        ...found,
        team
      },
      success: FoundGroups
    }).annotateMerge(
      describe(
        "Count findings",
        "Counts the findings of pull requests by category, severity, rule, repository, workspace or team, in a period and in the one of the same length before it: at most 200 groups, those with the most findings first."
      )
    ),
    HttpApiEndpoint.get("authors", "/stats/authors", {
      query: found,
      success: FoundGroups,
      error: [StateConflict]
    }).annotateMerge(
      describe(
        "Count findings by author",
        "Counts the findings of pull requests by the author of the change, where `admin.figures_by_author` is true, as long as the runs that found them are kept: at most 200 authors, those with the most findings first."
      )
    ),
    HttpApiEndpoint.get("timeline", "/stats/timeline", {
      query: {
        bucket: Schema.optionalKey(allowOne(Schema.Literals(["hour", "day"]), "Length of an item; default: day")),
        since: Schema.optionalKey(
          time("A time in ISO 8601, which the first item contains. Default: 48 hours or 90 days; at most 840 or 3660")
        ),
        team
      },
      success: Schema.Array(BucketJson)
    }).annotateMerge(
      describe(
        "Get a timeline",
        "Returns one item per hour or day (UTC) until now, oldest first, also where no run ended. Runs of a team are counted by day only."
      )
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Statistics", description: "Sums of ended runs" })) {}
