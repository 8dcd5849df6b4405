/** The theme: that of the system, or the one that the user selected. `light-dark()` in the styles follows `color-scheme`. */
export type Theme = "system" | "light" | "dark"
export const themes: ReadonlyArray<Theme> = ["system", "light", "dark"]
const storageKey = "aicr.theme"

export const currentTheme = (): Theme => themes.find((theme) => theme === localStorage.getItem(storageKey)) ?? "system"

export const applyTheme = (): void => {
  const theme = currentTheme()
  document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme
  document.documentElement.dataset["theme"] = theme
}

export const changeTheme = (theme: Theme): void => {
  localStorage.setItem(storageKey, theme)
  applyTheme()
  // Charts are drawn in colours that they read once.
  window.dispatchEvent(new Event("aicr-theme"))
}
