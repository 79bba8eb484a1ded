// Pages as HTML (page.h): one pass over the sections, everything from data through html_escaped().
#include <fmt/format.h>

#include <set>

#include "core/message.h"
#include "reports/page.h"

namespace m4n::detail {
namespace {

// Colours have names, and two sets of values. Heat is one colour by its opacity, so that it goes with both.
constexpr const char* colours = R"(
:root{--paper:#fff;--ink:#1b1f24;--faint:#57606a;--rule:#d5dae0;--panel:#f5f7f9;--link:#0a55a5;--heat:#0b5cad;
--on-heat:#fff;--cold:#a84300;--s0:#0b5cad;--s1:#b34700;--s2:#1a7038;--s3:#8a3a9c;--s4:#8a6100;--s5:#57606a}
)";
constexpr const char* dark_colours = R"(
:root{--paper:#14171b;--ink:#e6e9ec;--faint:#a3adb8;--rule:#3a424b;--panel:#1e2328;--link:#7db7f5;--heat:#6fb0f7;
--on-heat:#10151b;--cold:#f0954f;--s0:#6fb0f7;--s1:#f0954f;--s2:#6cc788;--s3:#d79be6;--s4:#dcb955;--s5:#a3adb8}
)";
constexpr const char* picture_style = R"(
text{fill:var(--ink);font:12px system-ui,sans-serif}
.mark,.axis{fill:var(--faint)}.strong{font-weight:700}
.grid{stroke:var(--rule)}.diagonal{stroke:var(--faint);stroke-dasharray:4 4}
.bar{fill:var(--s5);fill-opacity:.75}.chosen{fill:var(--s0);fill-opacity:1}.error{stroke:var(--ink);stroke-width:1.5}
.path{fill:none;stroke-width:2}.ring{fill:none;stroke-width:2}.bars{stroke-width:1.2;stroke-opacity:.7}
.s0{stroke:var(--s0)}.s1{stroke:var(--s1)}.s2{stroke:var(--s2)}.s3{stroke:var(--s3)}.s4{stroke:var(--s4)}
.s5{stroke:var(--s5)}.dot{stroke:none}
.dot.s0{fill:var(--s0)}.dot.s1{fill:var(--s1)}.dot.s2{fill:var(--s2)}.dot.s3{fill:var(--s3)}.dot.s4{fill:var(--s4)}
.dot.s5{fill:var(--s5)}
.paper{fill:var(--paper)}.h0,.n0,.none{fill:var(--panel)}.h1,.h2,.h3,.h4,.h5,.h6,.h7,.h8{fill:var(--heat)}
.n1,.n2,.n3,.n4,.n5,.n6,.n7,.n8{fill:var(--cold)}
.h1,.n1{fill-opacity:.1}.h2,.n2{fill-opacity:.2}.h3,.n3{fill-opacity:.3}.h4,.n4{fill-opacity:.4}
.h5,.n5{fill-opacity:.75}.h6,.n6{fill-opacity:.85}.h7,.n7{fill-opacity:.92}.h8,.n8{fill-opacity:1}
.f0{fill:var(--s0)}.f1{fill:var(--s1)}.f2{fill:var(--s2)}.f3{fill:var(--s3)}.f4{fill:var(--s4)}.f5{fill:var(--s5)}
.f0,.f1,.f2,.f3,.f4,.f5{fill-opacity:.3}.contour{fill:none;stroke:var(--ink);stroke-opacity:.6}
.outline{stroke:var(--ink)}.vh5,.vh6,.vh7,.vh8,.vn5,.vn6,.vn7,.vn8{fill:var(--on-heat)}
)";
constexpr const char* page_style = R"(
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main,nav,footer{max-width:62rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.6rem;line-height:1.25;margin:1.5rem 0 .5rem}h2{font-size:1.25rem;margin:2.2rem 0 .4rem;
border-top:1px solid var(--rule);padding-top:1.2rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
.lead{font-size:1.1rem}p{max-width:46rem;margin:.4rem 0}
nav ul{list-style:none;margin:.8rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1rem}
a{color:var(--link)}.note,footer{color:var(--faint);font-size:.9rem}footer{padding-bottom:2rem;margin-top:2rem}
.scroll{overflow-x:auto;max-width:100%}.scroll:focus-visible{outline:2px solid var(--link)}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem .25rem 0;text-align:start;vertical-align:top;border-bottom:1px solid var(--rule);
min-width:3rem;max-width:24rem}thead th{vertical-align:bottom;color:var(--faint);font-weight:600;overflow-wrap:normal}
.num{text-align:right;white-space:nowrap}tbody tr:hover{background:var(--panel)}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--link)}
th[aria-sort=ascending] button::after{content:" \25B4"}th[aria-sort=descending] button::after{content:" \25BE"}
figure{margin:.4rem 0}svg{display:block;width:100%;height:auto}.tip{min-height:1.4em;font-size:.9rem;color:var(--faint);
margin:0}details summary{cursor:pointer;color:var(--faint);font-size:.9rem}
@media print{nav,.tip,details{display:none}.scroll{overflow:visible}body{font-size:11pt}
h2{break-after:avoid}figure,tr{break-inside:avoid}}
)";

// Sorting by a click on the head of a column; what is under the pointer in a heat map, from the table below it.
constexpr const char* script = R"(
document.querySelectorAll('main table').forEach(t=>t.querySelectorAll('thead th').forEach((h,c)=>{
const b=document.createElement('button');b.type='button';b.append(...h.childNodes);h.append(b);
b.onclick=()=>{const up=h.getAttribute('aria-sort')==='descending',n=h.classList.contains('num');
t.querySelectorAll('th[aria-sort]').forEach(o=>o.removeAttribute('aria-sort'));
h.setAttribute('aria-sort',up?'ascending':'descending');
const v=r=>r.cells[c].textContent,k=r=>{const x=parseFloat(v(r));return isNaN(x)?-Infinity:x};
const rows=[...t.tBodies[0].rows].sort((p,q)=>n?k(q)-k(p):v(q).localeCompare(v(p)));
t.tBodies[0].append(...(up?rows.reverse():rows))}}));
document.querySelectorAll('svg[data-cells]').forEach(s=>{const[l,o,w,h]=s.dataset.cells.split(' ').map(Number),
f=s.closest('figure'),tip=f.querySelector('.tip'),t=f.querySelector('table');
s.onpointermove=e=>{const b=s.getBoundingClientRect(),z=s.viewBox.baseVal.width/b.width,
c=Math.floor(((e.clientX-b.left)*z-l)/w),r=Math.floor(((e.clientY-b.top)*z-o)/h),
row=r>=0&&t.tBodies[0].rows[r],cell=row&&c>=0&&row.cells[c+1];
tip.textContent=cell?row.cells[0].textContent+' \u2192 '+t.tHead.rows[0].cells[c+1].textContent+': '+
cell.textContent:''}});
)";

constexpr std::size_t widest_picture = 560;

std::string cell_html(const std::string& text, const char* tag, bool number, const char* more = "") {
  return fmt::format("<{0}{2} {3}>{1}</{0}>", tag, html_escaped(cut(text, longest_cell)), more,
                     number ? "class=\"num\"" : "dir=\"auto\"");
}

std::string table_html(const Table& table) {
  std::string out = fmt::format(R"(<div class="scroll" tabindex="0" role="group" aria-label="{}"><table><thead><tr>)",
                                html_escaped(table.title.empty() ? "table" : table.title));
  for (const Column& column : table.columns) out += cell_html(column.name, "th", column.number, " scope=\"col\"");
  out += "</tr></thead><tbody>";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += c == 0 && !table.columns[c].number ? cell_html(row[c], "th", false, " scope=\"row\"")
                                                : cell_html(row[c], "td", table.columns[c].number);
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string note_html(const std::string& note) {
  return note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", html_escaped(note));
}
std::string heading(const std::string& title) {
  return title.empty() ? "" : fmt::format("<h3>{}</h3>", html_escaped(title));
}

// The rules with the values of the colours in place of their names, which only browsers know.
std::string with_values(std::string rules, std::string_view named) {
  constexpr std::string_view use = "var(--";
  for (std::size_t at = rules.find(use); at != std::string::npos; at = rules.find(use, at)) {
    const std::size_t end = rules.find(')', at);
    const std::string name = fmt::format("--{}:", rules.substr(at + use.size(), end - at - use.size()));
    const std::size_t value = named.find(name) + name.size();
    rules.replace(at, end + 1 - at, named.substr(value, named.find_first_of(";}", value) - value));
  }
  return rules;
}

class HtmlWriter {
 public:
  std::string text;

  void operator()(const Words& words) { text += fmt::format("<p>{}</p>", html_escaped(words.text)); }
  void operator()(const Table& table) { text += heading(table.title) + table_html(table) + note_html(table.note); }
  void operator()(const HeatMap& map) { figure(map.title, picture_of(map), table_of(map), map.note); }
  void operator()(const Bars& bars) { figure(bars.title, picture_of(bars), table_of(bars), bars.note); }
  void operator()(const Chart& chart) { figure(chart.title, picture_of(chart), table_of(chart), chart.note); }
  void operator()(const Drawing& drawing) {
    figure(drawing.title, {drawing.svg, drawing.description, drawing.width, drawing.height}, std::nullopt,
           drawing.note);
  }

 private:
  void figure(const std::string& title, const Picture& picture, const std::optional<Table>& numbers,
              const std::string& note) {
    ++figures_;
    text += heading(title);
    const double wide = std::min(1.35 * picture.width, std::max<double>(widest_picture, picture.width));
    text += fmt::format(
        "<figure><svg viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"max-width:{2:.0f}px\" role=\"img\" "
        "aria-labelledby=\"t{3} d{3}\"{4}><title id=\"t{3}\">{5}</title><desc id=\"d{3}\">{6}</desc>{7}</svg>",
        picture.width, picture.height, wide, figures_,
        picture.cells.empty() ? "" : fmt::format(" data-cells=\"{}\"", picture.cells), html_escaped(title),
        html_escaped(picture.description), picture.svg);
    if (!picture.cells.empty()) text += "<p class=\"tip\" aria-hidden=\"true\"></p>";
    if (numbers) text += fmt::format("<details><summary>The numbers</summary>{}</details>", table_html(*numbers));
    text += "</figure>" + note_html(note);
  }

  int figures_ = 0;
};

}  // namespace

std::string html_escaped(std::string_view text) {
  constexpr const char* replacement = "\xEF\xBF\xBD";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      switch (byte) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        case '\'':
          out += "&#39;";
          break;
        default:
          if (byte >= 0x20 && byte != 0x7F)
            out += text[i];
          else
            out += byte == '\n' || byte == '\t' ? " " : replacement;
      }
      ++i;
      continue;
    }
    // Whole characters of UTF-8 that are neither overlong, nor surrogates, nor beyond Unicode, nor control characters.
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    std::uint32_t code = byte >= 0xF0 ? byte & 0x07U : byte >= 0xE0 ? byte & 0x0FU : byte & 0x1FU;
    bool good = byte >= 0xC2 && byte <= 0xF4 && i + length <= text.size();
    for (std::size_t c = 1; good && c < length; ++c) {
      const auto next = static_cast<unsigned char>(text[i + c]);
      good = (next & 0xC0U) == 0x80U;
      code = code << 6 | (next & 0x3FU);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    good = good && code >= least[length] && code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000) &&
           !(code >= 0x80 && code < 0xA0) && (code & 0xFFFEU) != 0xFFFE;
    // Marks that turn the direction of all that follows would leave the name they are in.
    if (good && ((code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069))) {
      out += replacement;
    } else if (good) {
      out += text.substr(i, length);
    } else {
      out += replacement;
    }
    i += good ? length : 1;
  }
  return out;
}

std::string page_html(const Page& page) {
  const std::string title = html_escaped(page.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline';"
      "script-src 'unsafe-inline';img-src data:\"><link rel=\"icon\" href=\"data:,\"><title>{}</title>\n"
      "<style>{}@media (prefers-color-scheme:dark){{{}}}{}{}</style></head>\n<body>\n"
      "<header><h1>{}</h1><p class=\"lead\">{}</p></header>\n<nav aria-label=\"Sections\"><ul>",
      title, colours, dark_colours, picture_style, page_style, title, html_escaped(page.lead));
  for (std::size_t s = 0; s < page.sections.size(); ++s)
    out += fmt::format("<li><a href=\"#s{}\">{}</a></li>", s + 1, html_escaped(page.sections[s].title));
  out += "</ul></nav>\n<main>\n";
  HtmlWriter writer;
  for (std::size_t s = 0; s < page.sections.size(); ++s) {
    writer.text += fmt::format("<section aria-labelledby=\"s{0}\"><h2 id=\"s{0}\">{1}</h2>\n", s + 1,
                               html_escaped(page.sections[s].title));
    for (const Exhibit& exhibit : page.sections[s].exhibits) {
      std::visit(writer, exhibit);
      writer.text += '\n';
    }
    writer.text += "</section>\n";
  }
  return out + writer.text + "</main>\n<footer>Made by m4n. Nothing on this page is loaded from elsewhere.</footer>\n" +
         fmt::format("<script>{}</script>\n</body></html>\n", script);
}

std::string svg_file(const Exhibit& exhibit) {
  std::string title;
  Picture picture;
  std::visit(
      [&](const auto& shown) {
        using Shown = std::decay_t<decltype(shown)>;
        if constexpr (std::is_same_v<Shown, Words> || std::is_same_v<Shown, Table>) {
          throw Error("text and tables are no pictures");
        } else {
          title = shown.title;
          if constexpr (std::is_same_v<Shown, Drawing>)
            picture = {shown.svg, shown.description, shown.width, shown.height};
          else
            picture = picture_of(shown);
        }
      },
      exhibit);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{2:.0f}\" height=\"{3:.0f}\" "
      "role=\"img\" aria-labelledby=\"t d\"><title id=\"t\">{4}</title><desc id=\"d\">{5}</desc>"
      "<style>{6}@media (prefers-color-scheme:dark){{{7}}}</style>"
      "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>{8}</svg>\n",
      picture.width, picture.height, 1.5 * picture.width, 1.5 * picture.height, html_escaped(title),
      html_escaped(picture.description), with_values(picture_style, colours), with_values(picture_style, dark_colours),
      picture.svg);
}

}  // namespace m4n::detail
