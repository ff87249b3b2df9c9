// The words of the page in its language, and its decimal mark. {names} in a text are filled in.
const language = document.documentElement.lang;
const catalogue = JSON.parse(document.getElementById("words").textContent);
const plurals = new Intl.PluralRules(language);

function say(key, values = {}, variant = "") {
  const found = catalogue.texts[key];
  const text = typeof found === "string" ? found : found[variant];
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

const sayCount = (key, number) => say(key, { n: wholeNumbers.format(number) }, plurals.select(number));
