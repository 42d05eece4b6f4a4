/** Emoji and the equivalent glyphs. The font has few others: the faces, and symbols such as the hot beverage. */
const TABLE = `
  🤖 bot  ✨ sparkles  🧠 brain  💬 message-circle  🗨 message-square  🔍 search  🔎 search  📊 chart-column  📈 chart-line
  📉 chart-line  🚀 rocket  💡 lightbulb  ⭐ star  🌟 star  ❤ heart  💙 heart  💚 heart  ⚡ zap  🔔 bell  📅 calendar  📆 calendar
  ⏰ clock  🕐 clock  📧 mail  📨 mail  ✉ mail  👤 user  🧑 user  👩 user  👨 user  👥 users  🎓 graduation-cap  📖 book-open
  📚 library  💼 briefcase  🏢 building  🛒 shopping-cart  🚚 truck  📦 package  💳 credit-card  💰 wallet  💵 dollar-sign
  💲 dollar-sign  🪙 coins  🧮 calculator  ✏ pencil  📝 notebook  📓 notebook  🎨 palette  🖼 image  🎵 music  🎶 music  📷 camera
  📸 camera  💻 code  🖥 server  🛡 shield  🔒 lock  🔐 lock  🔑 key-round  📍 map-pin  🧭 compass  🌍 globe  🌎 globe  🌏 globe
  🌐 globe  🍃 leaf  🌿 leaf  🔥 flame  ☕ coffee  🎁 gift  🏆 trophy  🎯 target  🪄 wand-sparkles  🎧 headset  📞 phone
  🩺 stethoscope  ⚖ scale  📰 newspaper  🏠 house  🏡 house  ⚙ settings  🔧 wrench  🛠 wrench  🐛 bug  🐞 bug  🧪 flask-conical
  📁 folder  📂 folder-open  📄 file-text  📣 megaphone  📢 megaphone  🎤 mic  🧩 puzzle  🔌 plug  ☁ cloud  ⛅ cloud-sun
  🤝 handshake  🏷 tag  🗄 database  📜 scroll-text  🌡 gauge`;

/** Names of glyphs by emoji, without variation selectors. */
export const EMOJI_GLYPHS: ReadonlyMap<string, string> = new Map(
  TABLE.trim()
    .split(/\s{2,}/)
    .map((pair) => pair.split(' ') as [string, string]),
);
