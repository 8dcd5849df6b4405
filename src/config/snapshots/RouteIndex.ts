/**
 * Indexes the workspaces bound to a source. `source_repo` bindings are looked up by trigger and folded name. A match rule is indexed by its
 * most selective condition (an exact name, otherwise a literal prefix), so that a webhook only tries rules that can match; rules without
 * such a condition are tried for each webhook of their triggers.
 */
import { foldRepo } from "../../domain/Change.ts"
import type { MatcherConfig, Test } from "../Matcher.ts"
import { compileMatcher, foldText, literalPrefix } from "../Matcher.ts"
import type { MatchRule } from "../schema/Workspaces.ts"
import type { Snapshot, SourceFacts, Workspace } from "../Snapshot.ts"

type Field = Exclude<keyof SourceFacts, "any_branch">

interface Rule {
  readonly workspace: Workspace
  /** Its id, or its position in the workspace. */
  readonly name: string
  readonly triggers: ReadonlySet<string> | undefined
  readonly tests: ReadonlyArray<readonly [Field, Test]>
}

/** Fields by selectivity; the others are too unselective for an index. */
const telling: ReadonlyArray<Field> = ["repo_ref", "repository", "project_key", "namespace"]

type Fields = ReadonlyMap<string, ReadonlyArray<Rule>>

interface Filed {
  /** Rules by field and folded value. */
  readonly exact: ReadonlyMap<Field, Fields>
  /** Rules by field and folded prefix that ends with a slash: tried at the slashes of a value. */
  readonly folders: ReadonlyMap<Field, Fields>
  /** Lengths of the other prefixes by field, and rules by folded prefix. */
  readonly prefixes: ReadonlyMap<Field, { readonly lengths: ReadonlyArray<number>; readonly rules: Fields }>
  /** Rules that are always tried, by trigger name, or "" for any. */
  readonly rest: Fields
}

export const makeRoute = (workspaces: Iterable<Workspace>): Pick<Snapshot, "route" | "matchedRule"> => {
  const bySource = new Map<string, Array<Workspace>>()
  const rules: Array<Rule & { readonly source: MatchRule["source"] }> = []
  for (const workspace of workspaces) {
    const { source_repo, match = [] } = workspace.instance
    if (source_repo !== undefined) add(bySource, sourceKey(source_repo.trigger, source_repo.repo), workspace)
    for (const [index, rule] of match.entries())
      rules.push({ ...compileRule(workspace, rule, index), source: rule.source })
  }
  const filed = file(rules)
  return {
    route: (trigger, source) => {
      const facts = complete(source)
      const found = new Set(bySource.get(sourceKey(trigger, facts.repo_ref)))
      for (const rule of candidates(filed, trigger, facts)) {
        if (!found.has(rule.workspace) && hits(rule, trigger, facts)) found.add(rule.workspace)
      }
      const enabled = [...found].filter((workspace) => workspace.enabled)
      return enabled.length > 0 ? enabled : [...found]
    },
    matchedRule: ({ id, instance }, trigger, source) => {
      if (instance.match === undefined) return undefined
      const facts = complete(source)
      for (const rule of candidates(filed, trigger, facts))
        if (rule.workspace.id === id && hits(rule, trigger, facts)) return rule.name
      return undefined
    }
  }
}

const sourceKey = (trigger: string, repo: string): string => `${trigger}\u0000${foldRepo(repo)}`

const add = <V>(map: Map<string, Array<V>>, key: string, value: V): void => {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

const compileRule = (workspace: Workspace, rule: MatchRule, index: number): Rule => ({
  workspace,
  name: rule.id ?? `match[${index}]`,
  triggers: rule.triggers === undefined ? undefined : new Set(rule.triggers),
  tests: matchersOf(rule.source).map(([field, matcher]) => [field, compileMatcher(matcher)])
})

const fields: ReadonlyArray<Field> = [...telling, "branch", "ref", "vcs"]

const matchersOf = (source: MatchRule["source"]): ReadonlyArray<readonly [Field, MatcherConfig]> =>
  fields.flatMap((field) => {
    const matcher = source?.[field]
    return matcher === undefined ? [] : [[field, matcher] as const]
  })

const hits = (rule: Rule, trigger: string, facts: SourceFacts): boolean =>
  (rule.triggers === undefined || rule.triggers.has(trigger)) &&
  rule.tests.every(([field, test]) => {
    const value = facts[field]
    if (value === undefined) return facts.any_branch === true && (field === "branch" || field === "ref")
    return test(value)
  })

const file = (rules: ReadonlyArray<Rule & { readonly source: MatchRule["source"] }>): Filed => {
  const exact = new Map<Field, Map<string, Array<Rule>>>()
  const folders = new Map<Field, Map<string, Array<Rule>>>()
  const prefixes = new Map<Field, Map<string, Array<Rule>>>()
  const rest = new Map<string, Array<Rule>>()
  const under = (map: Map<Field, Map<string, Array<Rule>>>, field: Field): Map<string, Array<Rule>> => {
    const inner = map.get(field) ?? new Map<string, Array<Rule>>()
    map.set(field, inner)
    return inner
  }
  for (const rule of rules) {
    const wanted = telling.flatMap((field) => {
      const matcher = rule.source?.[field]
      return matcher === undefined ? [] : [{ field, matcher, prefix: foldText(literalPrefix(matcher)) }]
    })
    const whole = wanted.find(({ matcher, prefix }) => prefix !== "" && isWhole(matcher))
    const start = wanted.find(({ prefix }) => prefix !== "")
    if (whole !== undefined) add(under(exact, whole.field), whole.prefix, rule)
    else if (start !== undefined)
      add(under(start.prefix.endsWith("/") ? folders : prefixes, start.field), start.prefix, rule)
    else for (const trigger of rule.triggers ?? [""]) add(rest, trigger, rule)
  }
  return {
    exact,
    folders,
    prefixes: new Map(
      [...prefixes].map(([field, found]) => [
        field,
        { rules: found, lengths: [...new Set([...found.keys()].map((prefix) => prefix.length))] }
      ])
    ),
    rest
  }
}

const isWhole = ({ exact, glob }: MatcherConfig): boolean =>
  exact !== undefined || (glob !== undefined && !/[*?]/.test(glob))

function* candidates(filed: Filed, trigger: string, facts: SourceFacts): Generator<Rule> {
  for (const [field, rules] of filed.exact) {
    const value = facts[field]
    if (value !== undefined) yield* rules.get(foldText(value)) ?? []
  }
  for (const [field, rules] of filed.folders) {
    const value = foldText(facts[field] ?? "")
    for (let slash = value.indexOf("/"); slash >= 0; slash = value.indexOf("/", slash + 1))
      yield* rules.get(value.slice(0, slash + 1)) ?? []
  }
  for (const [field, { lengths, rules }] of filed.prefixes) {
    const value = foldText(facts[field] ?? "")
    for (const length of lengths) if (length <= value.length) yield* rules.get(value.slice(0, length)) ?? []
  }
  yield* filed.rest.get(trigger) ?? []
  yield* filed.rest.get("") ?? []
}

/** Derives owner and name from the full name if the host did not send them. */
const complete = (source: SourceFacts): SourceFacts => {
  const cut = source.repo_ref.lastIndexOf("/")
  return {
    ...source,
    repository: source.repository ?? source.repo_ref.slice(cut + 1),
    namespace: source.namespace ?? (cut < 0 ? undefined : source.repo_ref.slice(0, cut))
  }
}
