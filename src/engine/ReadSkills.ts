/** The skills of the base branch that are active for a change; the head's are part of the change. */
import { Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import { isActive, readSkill } from "../review/Skills.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { Instructions } from "./Instructions.ts"

const folder = ".aicr/skills"
const maxSkills = 100
const maxReadBytes = 262_144
/** Characters of one skill and of all of them that reach the model. */
const maxCharacters = 16_000
const maxTotal = 48_000

export const readSkills = Effect.fn("readSkills")(function* (
  checkout: Checkout,
  { prompt }: Workspace,
  paths: ReadonlyArray<string>
): Effect.fn.Return<Instructions, CheckoutError> {
  const forced = prompt.force_skills ?? []
  const files = (yield* checkout.list(folder, "from", maxSkills + 1)).filter((name) => name.endsWith(".md")).toSorted()
  const notices: Array<string> = []
  if (files.length > maxSkills)
    notices.push(`${folder}/ holds over ${maxSkills} skills; the first ${maxSkills} are used.`)
  const rules: Array<{ path: string; text: string }> = []
  const known = new Set<string>()
  let room = maxTotal
  // Forced ones first: they are not what is left out when there are many.
  const isForced = (file: string): boolean => forced.includes(file.slice(0, -3))
  for (const file of [...files.filter(isForced), ...files.filter((name) => !isForced(name))].slice(0, maxSkills)) {
    const document = yield* checkout.file(`${folder}/${file}`, "from", maxReadBytes)
    if (document === undefined) continue
    const skill = readSkill(file.slice(0, -3), document)
    known.add(skill.name)
    if (skill.text === "" || !isActive(skill, paths, forced)) continue
    const length = Math.min(skill.text.length, maxCharacters, room)
    if (length < skill.text.length)
      notices.push(`The skill ${skill.name} is long; ${length} of its ${skill.text.length} characters are used.`)
    room -= length
    if (length > 0) rules.push({ path: `${folder}/${file}`, text: skill.text.slice(0, length) })
  }
  for (const name of forced) {
    if (!known.has(name))
      notices.push(`prompt.force_skills names ${name}, but the base branch has no ${folder}/${name}.md.`)
  }
  return { rules, notices }
})
