/** Describes failed requests in the selected language: by their code and their reason. */
import { Problem, readReason } from "../client/Problem.ts"
import { t, tMaybe, tReason } from "./T.ts"

export const errorTitle = (error: unknown): string => {
  if (!(error instanceof Problem)) return t("error.title")
  return error.isUnreachable ? t("error.unreachable") : (tMaybe("problem", error.code) ?? t("error.title"))
}

export const errorDetail = (error: unknown): string => {
  if (error instanceof Problem && error.isUnreachable) return t("error.unreachable.help")
  if (error instanceof Problem && "reason" in error.body) return tReason(readReason(error.body, "detail"))
  return error instanceof Error ? error.message : String(error)
}
