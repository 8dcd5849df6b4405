/** Applies the shape of a format to the body of a request. Pure. */
import { toJson } from "../WireJson.ts"
import type { WireJson } from "../WireJson.ts"
import type { RestrictedBody } from "../../WireRow.ts"
import { RefusedField } from "./RefusedField.ts"
import type { WireShape } from "./WireShape.ts"

/** `finish` completes the accepted body with what depends on several of its fields. */
export const restrictBody = (
  shape: WireShape,
  body: WireJson,
  webSearch: boolean,
  finish: (accepted: WireJson) => WireJson
): RestrictedBody => {
  const removed = new Set<string>()
  const accepted = shape(body, { webSearch, removed })
  if (accepted instanceof RefusedField) return { body: {}, removed: [...removed], refused: accepted }
  return { body: finish(toJson(accepted)), removed: [...removed] }
}
