/** Shows durations in the selected language. */
import { describeDuration } from "./Duration.ts"
import { t } from "./T.ts"

export const formatDuration = (millis: number | null | undefined): string =>
  describeDuration(millis, (unit) => t(`unit.${unit}`))
