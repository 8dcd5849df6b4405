/**
 * The requests of Gemini's API that an agent may send. The API accepts each field in two spellings, `generationConfig` and that of its protocol
 * buffers, `generation_config`; requests get the first one. Of a list it also accepts a single item, which agents do not send.
 */
import { toJson, toList, toText } from "../WireJson.ts"
import type { WireJson } from "../WireJson.ts"
import type { RestrictedBody } from "../../WireRow.ts"
import { restrictBody } from "./RestrictBody.ts"
import {
  anything,
  flag,
  omitted,
  list,
  number,
  object,
  allow,
  removedTool,
  schema,
  text,
  textOr,
  withTools
} from "./WireShape.ts"
import type { WireShape } from "./WireShape.ts"

const spell = (name: string): string => name.replace(/_([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase())

const fields = (shapes: Readonly<Record<string, WireShape>>, required: ReadonlyArray<string> = []): WireShape =>
  object(shapes, { required, spell })

const inlineData = fields({ mimeType: allow("image/png", "image/jpeg", "image/gif", "image/webp"), data: text }, [
  "mimeType",
  "data"
])

/** A part has one field with its content. */
const part = fields({
  text,
  inlineData,
  functionCall: fields({ id: text, name: text, args: anything }, ["name"]),
  functionResponse: fields({ id: text, name: text, response: anything, parts: list(fields({ inlineData })) }, ["name"]),
  thought: flag,
  thoughtSignature: text
})
const content = fields({ role: text, parts: list(part) }, ["parts"])
const instruction = textOr(fields({ role: text, parts: list(fields({ text }, ["text"])) }, ["parts"]))

const declaration = fields(
  {
    name: text,
    description: text,
    behavior: text,
    parameters: schema,
    parametersJsonSchema: schema,
    response: schema,
    responseJsonSchema: schema
  },
  ["name"]
)

/** A tool object has a field per kind of tool; those that servers execute are removed. */
const tool: WireShape = (value, context) => {
  const known = { functionDeclarations: list(declaration), ...(context.webSearch ? { googleSearch: fields({}) } : {}) }
  const kept = Object.entries(toJson(value)).filter(([name]) => {
    const isKnown = Object.hasOwn(known, spell(name))
    if (!isKnown) removedTool(spell(name), context)
    return isKnown
  })
  return kept.length === 0 ? undefined : fields(known)(Object.fromEntries(kept), context)
}

const request = fields(
  {
    contents: list(content),
    systemInstruction: instruction,
    tools: list(tool),
    toolConfig: fields({ functionCallingConfig: fields({ mode: text, allowedFunctionNames: list(text) }) }),
    safetySettings: list(fields({ category: text, threshold: text, method: text })),
    generationConfig: fields({
      stopSequences: list(text),
      responseMimeType: text,
      responseSchema: schema,
      responseJsonSchema: schema,
      candidateCount: allow(1),
      maxOutputTokens: number,
      temperature: number,
      topP: number,
      topK: number,
      seed: number,
      presencePenalty: number,
      frequencyPenalty: number,
      thinkingConfig: fields({ includeThoughts: flag, thinkingBudget: number, thinkingLevel: text }),
      mediaResolution: text
    }),
    // Parts of the URL, what providers link to accounts, or charge more for.
    model: omitted,
    labels: omitted,
    serviceTier: omitted,
    store: omitted,
    stream: omitted
  },
  ["contents"]
)

export const restrictGemini = (body: WireJson, webSearch: boolean): RestrictedBody =>
  restrictBody(request, body, webSearch, (kept) => {
    const declared = toList(kept["tools"]).flatMap((one) => toList(one["functionDeclarations"]))
    const { allowedFunctionNames: allowed } = toJson(toJson(kept["toolConfig"])["functionCallingConfig"])
    const names = new Set(declared.map(({ name }) => toText(name)))
    const missing = Array.isArray(allowed) ? allowed.map(toText).find((name) => !names.has(name)) : undefined
    return withTools(kept, { choice: "toolConfig", chosen: missing, names })
  })
