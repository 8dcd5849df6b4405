/** Shows durations. Pure. */

/** Two units at most: `1 h 5 min`, `12.3 s`, `340 ms`. Each is rounded before its unit is selected: 59.96 seconds are a minute. */
export const formatDuration = (millis: number | null | undefined): string => {
  if (millis === null || millis === undefined) return "–"
  if (Math.round(millis) < 1000) return `${Math.round(millis)} ms`
  const tenths = Math.round(millis / 100)
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`
  const seconds = Math.round(millis / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
