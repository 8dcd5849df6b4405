/**
 * The skills and rules of the base branch that apply to a change; those of the head are part of the change.
 *
 * | folder                            | files                                      |
 * |-----------------------------------|--------------------------------------------|
 * | `.aicr/skills`                    | `<name>.md`                                |
 * | `.aicr/rules`                     | `<name>.md`, with an identity (`Rules.ts`) |
 * | `.github/instructions`            | `<name>.instructions.md`                   |
 * | `.cursor/rules`                   | `<name>.mdc`, `<name>.md`                  |
 * | `.claude/skills`, `.agents/skills` | `<name>/SKILL.md`                          |
 */
import { Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import type { InstructionSource } from "../../domain/Coverage.ts"
import type { Reason } from "../../domain/Reason.ts"
import { isMuted } from "../../domain/RuleHealth.ts"
import type { RuleHealth } from "../../domain/RuleHealth.ts"
import { fitRules, maxRuleText, readProjectRule } from "../../review/Rules.ts"
import type { ProjectRule } from "../../review/Rules.ts"
import { readSkill } from "../../review/Skills.ts"
import type { Skill } from "../../review/Skills.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { Instructions } from "./Instructions.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"

interface SkillFolder {
  readonly folder: InstructionSource
  /** Endings of the names of files; absent where each skill is a folder with a `SKILL.md`. */
  readonly endings?: ReadonlyArray<string>
}

const ownFolder = ".aicr/skills"
const ruleFolder = ".aicr/rules"
const folders: ReadonlyArray<SkillFolder> = [
  { folder: ownFolder, endings: [".md"] },
  { folder: ".github/instructions", endings: [".instructions.md"] },
  { folder: ".cursor/rules", endings: [".mdc", ".md"] },
  { folder: ".claude/skills" },
  { folder: ".agents/skills" }
]

/** Entries of a folder that are searched, and skills and rules that are read of it. */
const maxListed = 2_000
const maxSkills = 100
const maxRules = 500
const maxSkillBytes = 262_144
const maxRuleBytes = 65_536
/** Characters of one skill and of all of them that reach the model. */
const maxCharacters = 16_000
const maxTotal = 48_000
/** Unusable rules that are named. */
const maxNamed = 5

interface FoundSkill extends Skill {
  readonly folder: InstructionSource
  readonly path: string
}

/** A rule with the path of its file. */
interface FoundRule extends ProjectRule {
  readonly path: string
}

export interface Skills extends Instructions {
  /** Rules that apply to the change and have room in the prompt. */
  readonly project: ReadonlyArray<ProjectRule>
  /** Rules that apply and are omitted, because too few of their findings were accepted. */
  readonly muted: ReadonlyArray<ProjectRule>
}

export const readSkills = Effect.fn("readSkills")(function* (
  change: ChangeThread,
  checkout: Checkout,
  { prompt }: Workspace,
  ruleHealth?: Effect.Effect<ReadonlyArray<RuleHealth>>
): Effect.fn.Return<Skills, CheckoutError | AnalysisError> {
  const forced = prompt.force_skills ?? []
  const [found, rules] = yield* Effect.all(
    [
      Effect.forEach(folders, (folder) => readFolder(checkout, folder, forced), { concurrency: 3 }),
      readRules(checkout)
    ],
    { concurrency: 2 }
  )
  const skills = found.flatMap((one) => one.skills)
  const all = [...rules.rules, ...skills]
  const { active, refused } = yield* change.run(
    "activeSkills",
    all.map(({ path, appliesTo }) => ({ name: path, appliesTo })),
    skills.flatMap(({ name, path }) => (forced.includes(name) ? [path] : []))
  )
  const isActive = new Set(active)
  const applied = applySkills(skills.filter(({ path }) => isActive.has(path)))
  const { audible, muted } = yield* muteRules(
    rules.rules.filter(({ path }) => isActive.has(path)),
    ruleHealth
  )
  const project = applyRules(audible)
  const names = new Set(skills.map(({ name }) => name))
  const missing = forced.filter((name) => !names.has(name))
  const sources = [
    { source: ruleFolder, found: rules.found, applied: project.shown.length } as const,
    ...found.map(({ folder, skills: own }) => ({
      source: folder,
      found: own.length,
      applied: own.filter(({ path }) => applied.paths.has(path)).length
    }))
  ]
  return {
    rules: applied.rules,
    project: project.shown,
    muted,
    sources: sources.filter((one) => one.found > 0),
    notices: [
      ...found.flatMap(({ notices }) => notices),
      ...rules.notices,
      ...unusedPatterns(all, refused),
      ...applied.notices,
      ...project.notices,
      ...(muted.length === 0 ? [] : [{ _tag: "RulesMuted", names: muted.map(({ id }) => id) } as const]),
      ...missing.map((name): Reason => ({ _tag: "SkillMissing", name, path: `${ownFolder}/${name}.md` }))
    ]
  }
})

interface SkillFile {
  readonly name: string
  readonly path: string
}

/** Lists the files of a folder, of which links are not part. Forced skills come first, so that the limit never drops them. */
const listSkills = (checkout: Checkout, { folder, endings }: SkillFolder, forced: ReadonlyArray<string>) => {
  const listed =
    endings === undefined
      ? Effect.map(checkout.folders?.(folder, "rules", maxListed) ?? Effect.succeed([]), (names) =>
          names.map((name): SkillFile => ({ name, path: `${folder}/${name}/SKILL.md` }))
        )
      : Effect.map(checkout.list(folder, "rules", maxListed), (names) =>
          names.flatMap((file): ReadonlyArray<SkillFile> => {
            const ending = endings.find((one) => file.endsWith(one))
            return ending === undefined ? [] : [{ name: file.slice(0, -ending.length), path: `${folder}/${file}` }]
          })
        )
  return Effect.map(listed, (files) => {
    const ordered = files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const [first, others] = [
      ordered.filter(({ name }) => forced.includes(name)),
      ordered.filter(({ name }) => !forced.includes(name))
    ]
    return [...first, ...others]
  })
}

const readFolder = Effect.fnUntraced(function* (
  checkout: Checkout,
  folder: SkillFolder,
  forced: ReadonlyArray<string>
) {
  const files = yield* listSkills(checkout, folder, forced)
  const notices: Array<Reason> =
    files.length > maxSkills ? [{ _tag: "SkillsOverLimit", folder: folder.folder, limit: maxSkills }] : []
  const read = yield* Effect.forEach(
    files.slice(0, maxSkills),
    ({ name, path }) =>
      Effect.map(checkout.file(path, "rules", maxSkillBytes), (document): ReadonlyArray<FoundSkill> =>
        document === undefined ? [] : [{ ...readSkill(name, document), folder: folder.folder, path }]
      ),
    { concurrency: 8 }
  )
  return { folder: folder.folder, skills: read.flat(), notices }
})

/** Reads the rules. Of two with one id the first counts. */
const readRules = Effect.fnUntraced(function* (checkout: Checkout) {
  const files = yield* listSkills(checkout, { folder: ruleFolder, endings: [".md"] }, [])
  const notices: Array<Reason> =
    files.length > maxRules ? [{ _tag: "RuleFilesOverLimit", folder: ruleFolder, limit: maxRules }] : []
  const documents = yield* Effect.forEach(
    files.slice(0, maxRules),
    ({ path }) => checkout.file(path, "rules", maxRuleBytes),
    { concurrency: 8 }
  )
  const rules = new Map<string, FoundRule>()
  const unused: Array<Reason> = []
  for (const [index, { name, path }] of files.slice(0, maxRules).entries()) {
    const document = documents[index]
    const read: ProjectRule | Reason =
      document === undefined ? { _tag: "RuleUnreadable", limit: maxRuleBytes } : readProjectRule(name, document)
    if ("_tag" in read) unused.push({ _tag: "ProjectRuleUnused", path, reason: read })
    else if (rules.has(read.id))
      unused.push({ _tag: "ProjectRuleUnused", path, reason: { _tag: "RuleIdRepeated", name: read.id } })
    else rules.set(read.id, { ...read, path })
  }
  notices.push(...unused.slice(0, maxNamed))
  if (unused.length > maxNamed)
    notices.push({ _tag: "RulesUnused", folder: ruleFolder, count: unused.length - maxNamed })
  return { rules: [...rules.values()], found: files.length, notices }
})

const applySkills = (active: ReadonlyArray<FoundSkill>) => {
  let room = maxTotal
  const rules: Array<Instructions["rules"][number]> = []
  const notices: Array<Reason> = []
  for (const { name, path, text } of active) {
    if (text === "") continue
    const length = Math.min(text.length, maxCharacters, room)
    if (length < text.length) notices.push({ _tag: "SkillCut", name, count: length, total: text.length })
    room -= length
    if (length > 0) rules.push({ path, text: text.slice(0, length) })
  }
  return { rules, notices, paths: new Set(rules.map(({ path }) => path)) }
}

/** Separates the rules below their floor. The health of rules is read only if one of them can be. */
const muteRules = Effect.fnUntraced(function* (
  rules: ReadonlyArray<FoundRule>,
  ruleHealth?: Effect.Effect<ReadonlyArray<RuleHealth>>
) {
  const hasFloor = rules.some(({ floor, severity }) => floor !== undefined && severity !== "critical")
  if (!hasFloor || ruleHealth === undefined) return { audible: rules, muted: [] }
  const health = new Map((yield* ruleHealth).map((one) => [one.id, one]))
  return {
    audible: rules.filter((rule) => !isMuted(rule, health.get(rule.id))),
    muted: rules.filter((rule) => isMuted(rule, health.get(rule.id)))
  }
})

const applyRules = (active: ReadonlyArray<FoundRule>) => {
  const { left, shown } = fitRules(active)
  const cut = active.filter(({ text }) => text.length > maxRuleText)
  return {
    shown,
    notices: [
      ...cut
        .slice(0, maxNamed)
        .map(({ path, text }): Reason => ({ _tag: "RuleFileCut", path, count: maxRuleText, total: text.length })),
      ...(left === 0 ? [] : [{ _tag: "RulesOverRoom", count: left } as const])
    ]
  }
}

/** Returns a notice for each folder with skills whose patterns are too many. */
const unusedPatterns = (all: ReadonlyArray<{ readonly path: string }>, refused: ReadonlyArray<string>) => {
  const paths = new Set(refused)
  return [ruleFolder, ...folders.map(({ folder }) => folder)].flatMap((folder): ReadonlyArray<Reason> => {
    const count = all.filter(({ path }) => path.startsWith(`${folder}/`) && paths.has(path)).length
    return count === 0 ? [] : [{ _tag: "SkillPatternsUnused", folder, count }]
  })
}
