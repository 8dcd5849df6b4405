/**
 * Implements `aicr rules health`: how often the rules of repositories were used, and what became of their findings; and `aicr rules test`:
 * the examples of rules, reviewed by the configured model. The functions that open the records and that review are parameters.
 */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { acceptedShare, ruleState } from "../domain/RuleHealth.ts"
import type { RuleHealth } from "../domain/RuleHealth.ts"
import { toSnakeCase } from "../domain/Record.ts"
import { ProjectRules } from "../store/ProjectRules.ts"
import { judgeRuleCase, toRuleCases } from "../../eval/RuleCases.ts"
import type { RuleResult } from "../../eval/RuleCases.ts"
import { columns } from "./Columns.ts"
import { configFlag } from "./ConfigFlag.ts"
import type { EvalRuns } from "./EvalCommand.ts"
import { ExitWith, refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { engineFlags, engineOptions } from "./local/EngineFlags.ts"
import { makeSteps } from "./local/Steps.ts"
import type { OnRecords } from "./OnRecords.ts"
import { oneLine } from "./Wording.ts"

const percent = (share: number | undefined): string => (share === undefined ? "-" : `${Math.round(share * 100)} %`)

const header = ["repository", "rule", "owner", "state", "used", "findings", "accepted", "dismissed", "ignored", "share"]

const healthRow = (rule: RuleHealth): ReadonlyArray<string> => [
  oneLine(rule.repository),
  rule.id,
  oneLine(rule.owner ?? "-"),
  ruleState(rule),
  ...[rule.used, rule.findings, rule.accepted, rule.dismissed, rule.ignored].map(String),
  percent(acceptedShare(rule))
]

const healthCommand = (onRecords: OnRecords<ProjectRules>) =>
  Command.make(
    "health",
    {
      config: configFlag,
      repository: Flag.String("repository").pipe(
        Flag.withAlias("r"),
        Flag.withMetavar("TRIGGER:OWNER/NAME"),
        Flag.withDescription("Only rules of this repository"),
        Flag.optional
      ),
      json: jsonFlag
    },
    Effect.fnUntraced(function* ({ config, json, repository }) {
      const filter = { repository: Option.getOrUndefined(repository)?.toLowerCase() }
      const rules = yield* onRecords(
        config,
        ProjectRules.use(({ health }) => health(filter))
      )
      if (json) {
        const items = rules.map((rule) => ({ ...toSnakeCase(rule), state: ruleState(rule) }))
        return yield* Console.log(JSON.stringify({ rules: items }, null, 2))
      }
      yield* Console.log(
        rules.length === 0 ? "No rule has applied to a review." : columns([header, ...rules.map(healthRow)], 4)
      )
    })
  ).pipe(
    Command.withDescription("List rules with their uses and what became of their findings"),
    Command.withExamples([{ command: "aicr rules health", description: "Of every repository" }])
  )

const renderResult = ({ example, failed, isGood, passed }: RuleResult): string => {
  if (failed !== undefined) return `failed  ${example}: ${oneLine(failed)}`
  if (passed) return `passed  ${example}`
  return `wrong   ${example}: ${isGood ? "a finding cites the rule" : "no finding cites the rule"}`
}

const testFlags = {
  path: Argument.String("PATH").pipe(
    Argument.withDescription("Folder of the repository whose .aicr/rules to test. Default: the current one"),
    Argument.optional
  ),
  ...engineFlags,
  rules: Flag.String("rule").pipe(
    Flag.withMetavar("ID"),
    Flag.withDescription("Only this rule; several are possible"),
    Flag.between(0, 100)
  ),
  demo: Flag.Boolean("demo").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Use the demo's rules, which are not a language model and need no key")
  ),
  concurrency: Flag.Int("concurrency").pipe(Flag.withDescription("Reviews at the same time"), Flag.withDefault(2)),
  json: jsonFlag
}

const testCommand = (runs: Effect.Effect<Pick<EvalRuns, "evaluate">>) =>
  Command.make(
    "test",
    testFlags,
    Effect.fnUntraced(function* ({ concurrency, demo, json, path, rules: only, ...engine }) {
      if (concurrency < 1 || concurrency > 64) return yield* refused("--concurrency is 1 to 64")
      const { readRuleFiles } = yield* Effect.promise(() => import("./local/RuleFiles.ts"))
      const rules = yield* readRuleFiles(
        Option.getOrElse(path, () => "."),
        only
      )
      const { cases, misplaced } = toRuleCases(rules)
      const [first] = misplaced
      if (first !== undefined)
        return yield* refused(
          `${first.example}: the rule does not hold for ${first.path}; name a path that its globs match after the language of the fence`
        )
      if (cases.length === 0)
        return yield* refused("no rule has an example: add sections Bad and Good with fenced code")
      const { evaluate } = yield* runs
      const { scored } = yield* Effect.scoped(
        Effect.flatMap(makeSteps, (steps) =>
          evaluate({
            ...engineOptions(engine),
            cases: cases.map(({ change }) => change),
            demo,
            concurrency,
            progress: ({ name }, done) => steps.show(`${done} of ${cases.length}: ${name}`)
          })
        )
      )
      const results = cases.flatMap((one) => {
        const found = scored.find(({ name }) => name === one.change.name)
        return found === undefined ? [] : [judgeRuleCase(one, found)]
      })
      yield* Console.log(json ? JSON.stringify({ results }, null, 2) : results.map(renderResult).join("\n"))
      const failed = results.filter((one) => one.failed !== undefined).length
      if (failed > 0) return yield* new ExitWith({ code: 3, message: `${failed} of ${results.length} reviews failed` })
      const wrong = results.filter(({ passed }) => !passed).length
      if (wrong > 0)
        return yield* new ExitWith({ code: 1, message: `${wrong} of ${results.length} examples are wrong` })
    })
  ).pipe(
    Command.withDescription("Review the examples of rules: a bad one has to be found, a good one not"),
    Command.withExamples([
      { command: "aicr rules test --config config.yaml", description: "Every rule of the repository in this folder" }
    ])
  )

export const rulesCommand = (
  runs: Effect.Effect<Pick<EvalRuns, "evaluate">>,
  records: Effect.Effect<{ readonly onRecords: OnRecords<ProjectRules> }>
) =>
  Command.make("rules").pipe(
    Command.withDescription("Rules of repositories (.aicr/rules): their examples and their health"),
    Command.withSubcommands([
      healthCommand((...given) => Effect.flatMap(records, ({ onRecords }) => onRecords(...given))),
      testCommand(runs)
    ])
  )
