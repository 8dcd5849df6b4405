/** The skills of the base branch that are active for a change; the head's are part of the change. */
import { Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import { readSkill } from "../../review/Skills.ts"
import type { Skill } from "../../review/Skills.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { Instructions } from "./Instructions.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { Reason } from "../../domain/Reason.ts"

const folder = ".aicr/skills"
const maxSkills = 100
const maxReadBytes = 262_144
/** Characters of one skill and of all of them that reach the model. */
const maxCharacters = 16_000
const maxTotal = 48_000

export const readSkills = Effect.fn("readSkills")(function* (
  change: ChangeThread,
  checkout: Checkout,
  { prompt }: Workspace
): Effect.fn.Return<Instructions, CheckoutError | AnalysisError> {
  const forced = prompt.force_skills ?? []
  const files = (yield* checkout.list(folder, "rules", maxSkills + 1)).filter((name) => name.endsWith(".md")).toSorted()
  const notices: Array<Reason> = []
  if (files.length > maxSkills) notices.push({ _tag: "SkillsOverLimit", folder, limit: maxSkills })
  const rules: Array<{ path: string; text: string }> = []
  const skills: Array<Skill> = []
  // Forced skills come first, so that the limit never drops them.
  const isForced = (file: string): boolean => forced.includes(file.slice(0, -3))
  for (const file of [...files.filter(isForced), ...files.filter((name) => !isForced(name))].slice(0, maxSkills)) {
    const document = yield* checkout.file(`${folder}/${file}`, "rules", maxReadBytes)
    if (document !== undefined) skills.push(readSkill(file.slice(0, -3), document))
  }
  const { active, refused } = yield* change.run(
    "activeSkills",
    skills.map(({ name, appliesTo }) => ({ name, appliesTo })),
    forced
  )
  if (refused > 0) notices.push({ _tag: "SkillPatternsUnused", folder, count: refused })
  let room = maxTotal
  const isActive = new Set(active)
  for (const { name, text } of skills.filter((skill) => isActive.has(skill.name))) {
    if (text === "") continue
    const length = Math.min(text.length, maxCharacters, room)
    if (length < text.length) notices.push({ _tag: "SkillCut", name, count: length, total: text.length })
    room -= length
    if (length > 0) rules.push({ path: `${folder}/${name}.md`, text: text.slice(0, length) })
  }
  const known = new Set(skills.map(({ name }) => name))
  for (const name of forced) {
    if (!known.has(name)) notices.push({ _tag: "SkillMissing", name, path: `${folder}/${name}.md` })
  }
  return { rules, notices }
})
