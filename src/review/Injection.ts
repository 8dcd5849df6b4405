/**
 * Detects text in a change that addresses the reviewer instead of people or compilers. It is never obeyed (the prompt
 * forbids it, and tools do nothing else); it is reported, whatever the model makes of it. Checks the additions of a
 * change: lines, names, title, description. Pure.
 */
import type { ReportedProblem } from "../domain/Problem.ts"
import type { FileDiff } from "./FileDiff.ts"
import type { LinkedIssue } from "./LinkedIssues.ts"
import { riskTier } from "./Risk.ts"

const rules = "(?:instructions?|rules?|prompts?|guidelines?|directives?|guardrails?|constraints?|messages?|context)"
const reader =
  "(?:ai|a\\.i\\.|llm|gpt|claude|gemini|copilot|chatgpt|(?:code[ -]?)?review(?:er|ing)?(?: bot| model| agent| assistant)?|assistant|language model|bot|agent|model)"

const patterns: ReadonlyArray<RegExp> = [
  new RegExp(
    `\\b(?:ignore|disregard|forget|override|bypass|discard)\\b.{0,40}\\b(?:previous|prior|above|earlier|all|any|your|system|these|the)\\b.{0,30}\\b${rules}`,
    "i"
  ),
  new RegExp(
    `\\b(?:you are|you're|act as|pretend to be|behave as)\\b (?:now )?(?:an? |the |in )?(?:[a-z-]+ ){0,3}(?:${reader}|developer mode|dan|jailbroken|unrestricted)\\b`,
    "i"
  ),
  new RegExp(
    `\\b(?:note|attention|message|instructions?|important|hint|dear|hey|hello|hi|to|for)\\b[^\\w]{0,3}(?:to |for )?(?:the |any |all )?${reader}s?\\b.{0,80}\\b(?:approve|approved|ignore|skip|lgtm|reveal|print|report|pass|merge|accept|do not|don't|must|should|call|output|say|rate|mark|stop)\\b`,
    "i"
  ),
  new RegExp(
    `\\b${reader}s?\\b\\s*[:,>-]+\\s*(?:please )?(?:approve|ignore|skip|lgtm|reveal|print|pass|merge|accept|do not|don't|you must|call|output|say|rate|mark|stop|never|respond|reply)\\b`,
    "i"
  ),
  /\b(?:do not|don't|never|must not|no need to|refrain from|stop)\b.{0,20}\b(?:report|flag|mention|comment on|review|raise|list|publish)(?:ing)?\b.{0,40}\b(?:problems?|issues?|findings?|bugs?|vulnerabilit(?:y|ies)|this (?:file|function|line|change|code)|anything|any)\b/i,
  /\b(?:approve|lgtm|accept|merge)\b.{0,20}\b(?:this|the)\b.{0,15}\b(?:pr|pull request|merge request|change|patch|diff|commit)\b.{0,40}\b(?:without|immediately|now|regardless|unconditionally|no matter|automatically)\b/i,
  /\b(?:reveal|print|repeat|output|show|leak|send|exfiltrate|post|include|dump|disclose|tell me)\b.{0,50}\b(?:system prompt|your prompt|your instructions|api[ _-]?keys?|environment variables?|env vars?|credentials|secrets?|access tokens?)\b/i,
  /\b(?:call|invoke|use|run|execute)\b.{0,20}\b(?:report_problems?|publish_summary|skip|fetch_more_context|try_blame|read_base|search_code|list_files|find_references|verdicts?|the (?:skip|shell|bash) tool|a tool)\b/i,
  /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:system|instructions?|system_prompt)>|^\s*(?:system|assistant|human)\s*:\s*\S/i,
  /\b(?:set|mark|rate|treat|report|classify|downgrade)\b.{0,40}\b(?:severity|findings?|problems?|everything|all)\b.{0,30}\b(?:as|to|=)\b.{0,10}\b(?:info|low|none|safe|false positives?|resolved|ignored)\b/i,
  /\b(?:this|the) (?:code|file|change|function|diff) (?:has been|was|is) (?:already |fully )?(?:reviewed|audited|approved|verified|vetted)\b.{0,60}\b(?:skip|no need|do not|don't|ignore|nothing to)\b/i,
  /\bnew (?:system )?(?:instructions?|prompt|task|role|rules)\b\s*[:=-]/i,
  /(?:忽略|无视|忘记|不要理会).{0,12}(?:指令|规则|提示|要求|说明)|(?:不要|请勿|禁止).{0,8}(?:报告|指出|评论).{0,10}(?:问题|漏洞|缺陷)|(?:请|直接)?(?:批准|通过)(?:此|这个|该)(?:合并|请求|变更|提交)/,
  /(?:ignorez?|ignoriere|ignora|ignore).{0,30}(?:instructions? précédentes|anweisungen|instrucciones|istruzioni|instruções)|игнорируй.{0,30}инструкции|以前の指示.{0,10}無視/i,
  /[\u{E0020}-\u{E007E}]{4,}|[\u202A-\u202E\u2066-\u2069].*\S/u
]

/** Whether a text holds an instruction to the reviewer: a line of a file, a name, or the text of the pull request. */
export const injectionIn = (text: string): boolean => {
  const plain = text.slice(0, maxCharacters).replace(/[\u200B-\u200D\u2060\uFEFF\u00AD]/g, "")
  return patterns.some((pattern) => pattern.test(plain))
}

const maxCharacters = 2000
/** Problems reported of one change; the first ones. */
const most = 20
const message =
  "This text is addressed to an automated reviewer and tries to direct it. It was treated as data and not followed. If it is meant for people, word it so; if nobody on the team wrote it on purpose, find out where it comes from."

const problem = (file: string, severity: "info" | "medium", title: string): ReportedProblem => ({
  file,
  severity,
  category: "security",
  title,
  message
})

const inBackground = (part: string, line: string): ReportedProblem => ({
  ...problem(`(${part})`, "medium", `Instruction to the reviewer in a ${part}`),
  quote: line.slice(0, 500)
})

/** Files with instructions for reviews and coding agents. */
const instructions =
  /(^|\/)(AGENTS|CLAUDE|GEMINI|REVIEW|SKILL)\.md$|\.(?:instructions\.md|mdc)$|^\.(?:aicr|cursor\/rules)\//i

/** Whether a problem is one of these. */
export const isInjectionReport = ({ title }: Pick<ReportedProblem, "title">): boolean =>
  title?.startsWith("Instruction to the reviewer") === true

export const injections = (change: {
  readonly files: ReadonlyArray<FileDiff>
  readonly title: string | undefined
  readonly description: string | undefined
  readonly messages: ReadonlyArray<string>
  readonly issues: ReadonlyArray<LinkedIssue>
}): ReadonlyArray<ReportedProblem> => {
  const found: Array<ReportedProblem> = []
  for (const part of ["title", "description"] as const) {
    const line = firstInstruction(change[part]?.slice(0, maxDescription).split("\n") ?? [])
    if (line !== undefined) {
      found.push({
        ...problem(`(${part} of the change)`, "medium", `Instruction to the reviewer in the ${part}`),
        quote: line.slice(0, 500)
      })
    }
  }
  const inMessages = firstInstruction(change.messages.flatMap((text) => text.slice(0, maxDescription).split("\n")))
  if (inMessages !== undefined) found.push(inBackground("commit message", inMessages))
  const issue = firstInstruction(change.issues.map(({ title }) => title))
  if (issue !== undefined) found.push(inBackground("title of a closed issue", issue))
  const commits = new Set<string>()
  for (const file of change.files) {
    if (found.length >= most) break
    if (
      inMessages === undefined &&
      file.commit !== undefined &&
      !commits.has(file.commit.id) &&
      injectionIn(file.commit.title)
    ) {
      commits.add(file.commit.id)
      found.push({
        ...problem(file.path, "medium", "Instruction to the reviewer in a commit message"),
        quote: `${file.commit.id.slice(0, 12)} ${file.commit.title}`.slice(0, 500)
      })
    }
    if ([/[/.-]+/g, /[_/.-]+/g].some((between) => injectionIn(file.path.replace(between, " ")))) {
      found.push(problem(file.path, "medium", "Instruction to the reviewer in a file name"))
    }
    const line = addedInstruction(file)
    if (line !== undefined) {
      // Tests and documents quote such text more often than they mean it.
      const severity = riskTier(file) >= 2 && !instructions.test(file.path) ? "info" : "medium"
      found.push({
        ...problem(file.path, severity, "Instruction to the reviewer in the change"),
        line: line.number,
        quote: line.text
      })
    }
  }
  return found
}

const firstInstruction = (lines: ReadonlyArray<string>): string | undefined => {
  for (const line of lines) {
    if (injectionIn(line)) return line
  }
  return undefined
}

const addedInstruction = (file: FileDiff): { readonly number: number; readonly text: string } | undefined => {
  for (const hunk of file.hunks) {
    let number = hunk.newStart
    for (const line of hunk.lines) {
      if (line[0] === "+") {
        const said = line.slice(1, maxCharacters + 1)
        const isHinted = hint.test(said)
        if (isHinted && injectionIn(said)) return { number, text: said.endsWith("\r") ? said.slice(0, -1) : said }
      }
      if (line[0] !== "-") number++
    }
  }
  return undefined
}

const maxDescription = 50_000
/** Pre-filter: a line without any of these holds no instruction. It runs first, because there are many lines. */
const hint =
  /ignor|disregard|forget|overrid|bypass|discard|you|act as|pretend|behave|review|assistant|model|agent|bot|\bai\b|a\.i\.|llm|gpt|claude|gemini|copilot|not |never|refrain|stop|no need|approve|lgtm|accept|merge|reveal|print|repeat|output|show|leak|send|exfil|post|include|dump|disclos|tell|call|invoke|use|run|execute|<\||inst\]|<<|<\/?(sys|inst)|system|human|severity|finding|problem|everything|audited|verified|vetted|instruction|prompt|task|[^ -~\t]/i
