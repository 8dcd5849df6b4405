/** Describes failed requests in the selected language: by their code, and by their detail where that is a text of the service. */
import { Problem } from "../client/Problem.ts"
import { t, tMaybe, tService } from "./T.ts"

export const errorTitle = (error: unknown): string => {
  if (!(error instanceof Problem)) return t("error.title")
  return error.isUnreachable ? t("error.unreachable") : (tMaybe("problem", error.code) ?? t("error.title"))
}

export const errorDetail = (error: unknown): string => {
  if (error instanceof Problem && error.isUnreachable) return t("error.unreachable.help")
  return error instanceof Error ? tService(error.message) : String(error)
}
