// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

@testable import ImageChecks

/// An image and what is to be found in it.
struct ImageSample: CustomTestStringConvertible, Sendable {
    var name: String
    var info: ImageInfo
    var bytes: [UInt8]

    var testDescription: String { name }

    init(_ name: String, _ type: ImageType, _ width: Int, _ height: Int, _ bytes: [UInt8]) {
        self.name = name
        info = ImageInfo(type: type, width: width, height: height)
        self.bytes = bytes
    }

    private init(_ name: String, _ type: ImageType, _ width: Int, _ height: Int, base64: String) {
        let bytes = Data(base64Encoded: base64, options: .ignoreUnknownCharacters).map { [UInt8]($0) }
        self.init(name, type, width, height, bytes ?? [])
    }
}

extension ImageSample {
    /// Whole files written by Pillow 13.0, pillow-heif 1.8.1, icnsutil 1.1.0 and cjxl 0.7.0.
    static let written: [ImageSample] = [
        ImageSample(
            "PNG", .png, 33, 21,
            base64: """
                iVBORw0KGgoAAAANSUhEUgAAACEAAAAVCAYAAADID4fUAAAAN0lEQVR4nO3OMREAIBDEwAMhaEYMIpD1VQYJT5FVsGPte9JsdgcS
                E48JmIAJmIAJmIAJmMAXiQKHQgJUc6+M9gAAAABJRU5ErkJggg==
                """),
        ImageSample(
            "JPEG", .jpeg, 33, 21,
            base64: """
                /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j
                q62rZ4C8ybqmx5moq6T/wAALCAAVACEBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF
                BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW
                V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi
                4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/ACiiiiiiiiiiiiiiv//Z
                """),
        ImageSample(
            "JPEG with restart markers, by a tool", .jpeg, 21, 19,
            base64: """
                /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////
                m8H////6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4
                +Pj/wAARCAATABUDASIAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAAAAMEBf/EABsQAQADAAMBAAAAAAAAAAAAAAABAgMRITFB/8QA
                FwEAAwEAAAAAAAAAAAAAAAAAAgMEAP/EABoRAAMAAwEAAAAAAAAAAAAAAAABAxIhMSL/3QAEAAH/2gAMAwEAAhEDEQA/AOdTJamS1Mmi
                mRa9GnU//9CVcevBujOI+AHgtNliro//0a5xDTSI4AmfCSZ//9LoViOPAES4Ej//2Q==
                """),
        ImageSample(
            "progressive JPEG", .jpeg, 40, 9,
            base64: """
                /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j
                q62rZ4C8ybqmx5moq6T/wgALCAAJACgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAAAAEAP//EABQQAQAAAAAAAAAA
                AAAAAAAAADD/2gAIAQEAAQUCL//EABQQAQAAAAAAAAAAAAAAAAAAADD/2gAIAQEABj8CL//EABQQAQAAAAAAAAAAAAAAAAAAADD/
                2gAIAQEAAT8hL//aAAgBAQAAABAAP//EABQQAQAAAAAAAAAAAAAAAAAAADD/2gAIAQEAAT8QL//Z
                """),
        ImageSample(
            "GIF", .gif, 33, 21,
            base64: """
                R0lGODdhIQAVAIEAAICAgAAAAAAAAAAAACwAAAAAIQAVAEAILAABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgzatzIsaPHjyBD
                ihxJcmNAADs=
                """),
        ImageSample(
            "lossy WebP", .webp, 33, 21,
            base64: """
                UklGRlAAAABXRUJQVlA4IEQAAACwAwCdASohABUAPm02l0ikIyIhJWgAgA2JZwDNsoB+AAAsZ41aAAD+3hJ//JTX+NuWr/+jD+GH
                8MP6YCCxkHLOAAAAAA==
                """),
        ImageSample(
            "lossless WebP", .webp, 33, 21,
            base64: """
                UklGRh4AAABXRUJQVlA4TBEAAAAvIAAFAAdQyHoUuf+BiOh/AAA=
                """),
        ImageSample(
            "WebP with a transparent picture", .webp, 33, 21,
            base64: """
                UklGRmgAAABXRUJQVlA4WAoAAAAQAAAAIAAAFAAAQUxQSAoAAAABB1DaiAhERP8DVlA4IDgAAAAwAwCdASohABUAP3G202G0ryqm
                JWgCkC4JZwDOOA8KeFAAAP5vH4Elas3T9etLc25GpA86IAAAAA==
                """),
        ImageSample(
            "animated WebP", .webp, 17, 5,
            base64: """
                UklGRtoAAABXRUJQVlA4WAoAAAACAAAAEAAABAAAQU5JTQYAAAAAAAAAAABBTk1GVAAAAAAAAAAAABAAAAQAAAAAAAJWUDggPAAA
                ADADAJ0BKhEABQA+bSySRaQioZgEAEAGxKAJ0ugH4AAIXwAA/t4Sf/JTX+NuWr/6MP4Yfww/r1+J8JegAEFOTUZSAAAAAAAAAAAA
                EAAABAAAAAAAAFZQOCA6AAAAtAIAnQEqEQAFAD5tLJJFgwCAAADYlADsAfgAAhfAAP70GLf/770BvJ///7xn+2T/bJ/8mn/XHwAA
                AA==
                """),
        ImageSample(
            "BMP", .bmp, 9, 7,
            base64: """
                Qk1aAAAAAAAAAD4AAAAoAAAACQAAAAcAAAABAAEAAAAAABwAAADEDgAAxA4AAAIAAAACAAAAAAAAAP///wD/gAAA/4AAAP+AAAD/
                gAAA/4AAAP+AAAD/gAAA
                """),
        ImageSample(
            "ICO of PNG pictures", .ico, 48, 48,
            base64: """
                AAABAAIAEBAAAAAAIABWAAAAJgAAADAwAAAAACAAjwAAAHwAAACJUE5HDQoaCgAAAA1JSERSAAAAEAAAABAIBgAAAB/z/2EAAAAd
                SURBVHicY5SdcHwLAwWAiRLNowaMGjBqwGAyAAABtQJIqZRWaAAAAABJRU5ErkJggolQTkcNChoKAAAADUlIRFIAAAAwAAAAMAgG
                AAAAVwL5hwAAAFZJREFUeJztz0ENwCAAwEBACJoRg4jJmog9Lkt6Ctq5z3PHjy0d8FUDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oD
                WgNaA1oDWgNaA1oDWgNaA1oDWgPaCzulAooEUoIlAAAAAElFTkSuQmCC
                """),
        ImageSample(
            "ICO of bitmaps", .ico, 8, 8,
            base64: """
                AAABAAEACAgAAAAAGADwAAAAFgAAACgAAAAIAAAAEAAAAAEAGAAAAAAAwAAAAMQOAADEDgAAAAAAAAAAAADIkB7IkB7IkB7IkB7I
                kB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7I
                kB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7I
                kB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB7IkB4AAAAAAAAAAA==
                """),
        ImageSample(
            "ICO of one large picture", .ico, 256, 256,
            base64: """
                AAABAAEAAAAAAAAAIABvAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAEAAAABAAEAAAAAdAmVywAAADZJREFUeJztyrEBAAAEwDD8
                /zMfMFrStcmOvTo+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAADAMxgC3wL/d6HifgAAAABJRU5ErkJggg==
                """),
        ImageSample(
            "AVIF", .avif, 33, 21,
            base64: """
                AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAA
                AAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAKQAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEA
                AGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAAIQAAABUAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwA
                AAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAAMW1kYXQSAAoJGBUgo0QENBoQMhoex4eFWd///+LP
                wIDcqL/sZdOorwVS+W6awA==
                """),
        ImageSample(
            "turned AVIF", .avif, 21, 33,
            base64: """
                AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAAD1bWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAA
                AAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAEdAAAAKQAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEA
                AGF2MDFDb2xvcgAAAAB0aXBycAAAAFRpcGNvAAAAFGlzcGUAAAAAAAAAIQAAABUAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwA
                AAAAE2NvbHJuY2x4AAEADQAGgAAAAAlpcm90AwAAABhpcG1hAAAAAAAAAAEAAQUBAoMEhQAAADFtZGF0EgAKCRgVIKNEBDQaEDIa
                HseHhVnf///iz8CA3Ki/7GXTqK8FUvlumsA=
                """),
        ImageSample(
            "HEIC", .heic, 34, 22,
            base64: """
                AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAXxtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA
                ACJpbG9jAAAAAERAAAEAAQAAAAABoAABAAAAAAAAACYAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRt
                AAAAAAABAAAA/GlwcnAAAADcaXBjbwAAAHVodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMA
                AAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm4CGgwIAAAAyAAAADAIRiAAEABkQBwXPBiQAAABNjb2xybmNs
                eAABAA0ABoAAAAAUaXNwZQAAAAAAAABAAAAAQAAAAChjbGFwAAAAIgAAAAEAAAAWAAAAAf///+IAAAAC////1gAAAAIAAAAQcGl4
                aQAAAAADCAgIAAAAGGlwbWEAAAAAAAAAAQABBYECAwWEAAAALm1kYXQAAAAiKAGvBBITTOD46cJoPzdeydL1lvJ+0Ksr40mfd7EY
                kqn/oA==
                """),
        ImageSample(
            "JPEG XL", .jxl, 33, 21,
            base64: """
                /wqgAECAhOJCABIIAQAEAV3lEgAAFSqjjBu8nOv58kOHxbSN6wxttW1hSaLIODZJJ3BIEosg7gY4DoECQMy7AYATAGBXDAB8AAAUAAgA
                UEkC
                """),
        ImageSample(
            "lossless JPEG XL", .jxl, 33, 21,
            base64: """
                /wqgAECAgOJCCAIBAGQASxiLFQDUE2PQzFwgAgBAIhKAwAHIl53nCA==
                """),
        ImageSample(
            "JPEG XL with a profile", .jxl, 33, 21,
            base64: """
                /wqgAECAEA4VBiTMA2BbGu99zbyOpRQqNye1hAqv7SQKjeYpXcrK9jLychuZyY1a7EodWg+3qvEOeKN/AT5xVk1R/CG50Ex+hx12GAho
                10oBOJ0GDvzCdH/+/ft3B6v4A2NzoWUOBg2GGz0QaQ6omAlfzwgCAQBkAEsYixUA1BNj0MxcIAIAQCISgMAByJed5wg=
                """),
        ImageSample(
            "JPEG XL in a box", .jxl, 33, 21,
            base64: """
                AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAABZanhsY/8KoABAgITiQgASCAEABAFd5RIAABUqo4wbvJzr+fJDh8W0jesM
                bbVtYUmiyDg2SSdwSBKLIO4GOA6BAkDMuwGAEwBgVwwAfAAAFAAIAFBJAg==
                """),
        ImageSample(
            "JPEG XL whose sections have an order", .jxl, 600, 300,
            base64: """
                /wpYeZBQXAgAEwgDSig0Ij4QE+iBBgwAAAAAAAAAAAAAaWgKAIAKlVHGDV7O9Xz5ocNi2sZ1hrbatrCSFSkoKNxDz4gXY7DGo7SDIMgC
                AABzU14Y63QKcI+PvE/SgXAP4bFQNJjpEg2vaw8aXScfD6G7Y9Ybha9XQP0m/n9KwyDa6WmDfBiRkZ8u+8pZSIHMjRs3xrgx7sYYPCwM
                2EwBACEellDgpQ/dII2E7FRBIHTl6f2fAKEkAQ==
                """),
        ImageSample(
            "animated JPEG XL", .jxl, 17, 5,
            base64: """
                /wogACAIBhBQXBIIApIJAABoAEsYixXCSQLmBSIA2P/+0AAAAAAAAAAAAAAACAKSCQAAZABLGIsVwkkC5gUiADBAfwAAAAAAAAAAAAAA
                CAKSBQBcAEsYixXCSUFeIAIA+gMAAAAAAAAAAAAA
                """),
        ImageSample(
            "JPEG XL of a turned JPEG", .jxl, 21, 33,
            base64: """
                AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAUanhscAAAAAD/CqAAQFggJgAAAeNqYnJkwHDbAIIgCC0DAkAiAKFGgZCr
                SgAAQMhR2YKhOP8niIwRyjinFLQfIUOYpQ4yzEDpDjVYHzKcfMyAQw4qLHLQsAPbRw39+yPLHHbcgYai+1+MccYkl2zyySinPDPNNdt8
                M845Cz000UUbfTTSSUs9NdVVW3011lmLPTbZZZt9Ntppyz033XXbfTfeeQs+OOGFG3444olHLvnklFdu+eWYZx666KOTXrrpp6Oeeuyy
                z0577bbfjnvuwQs/PPHFG3888slHL/301Fdv/fXYZw9++OKPT3755p+Pfvrwxy///PTXb//9+Of/r2CqqgQAQMhR2YKhOP8viIRSRlmn
                FInxgJDNqEGGSXWgoXqw4dxDjhlQkA8actBhBzYWWeao3+3Djhta0R95ZvBJhve/GOOMSzb5ZJRTprlmm2/GOWehhya6aKOPRjppqaem
                umqrr8Y6a7HHJrtss89GO22556a7brvvxjvvwAUfnPDCDT8c8cQjl3xyyiu3/HLMMw9d9NFJL93001FPPXbZZ6e9dttvxz334IUfnvji
                jT8e+eSjl3566qu3/nrssw9f/PHJL9/889FPP37556e/fvvvxz//f4EfAKgsAAsIgOAAEEpGSUYAAQEAAAEAAQAAAwAAACticm9iRXhp
                ZhsdAAAEdGMbBzFboqm/EwlllFi0gCQP0Jb/ix4pGQAAAADxanhscIAAAAHgWwIQAHgDCHEIcAhx/v8OAAAYAAgAAQAAAAAAgIAliSTI
                vEkPAE8zw70AAIUkBQUFMhVj8MYYFSNjJDJjMEN2UaTFYKXo6BgiVAuXuX8YBIArbQFWDrkD4qsW4AQQ4yFm6KKAiMjxSBUiIhycARER
                QYiIiIiIiBCRiYiIiIiIiIiIiIiIiIiIEsUBIKyFEgTAmEsJDQc3S0AQCAMKesuB1HskCFCInNBR6RqCNDkcQEH8BzDgn1FnIwV0X0ZE
                qhARwe0piIgIQgSWREREREREREREREREREREREREBAAAAAAAoCQB
                """),
        ImageSample(
            "little-endian TIFF", .tiff, 33, 21,
            base64: """
                SUkqABgAAAB4nPv/////hv90IACVeF4tCQAAAQMAAQAAACEAAAABAQMAAQAAABUAAAACAQMAAQAAAAEAAAADAQMAAQAAAAgAAAAG
                AQMAAQAAAAEAAAARAQQAAQAAAAgAAAAWAQMAAQAAABUAAAAXAQQAAQAAABAAAAAcAQMAAQAAAAEAAAAAAAAA
                """),
        ImageSample(
            "BigTIFF", .tiff, 12, 5,
            base64: """
                SUkrAAgAAAAQAAAAAAAAAAkAAAAAAAAAAAEEAAEAAAAAAAAADAAAAAAAAAABAQQAAQAAAAAAAAAFAAAAAAAAAAIBAwABAAAAAAAA
                AAgAAAAAAAAAAwEDAAEAAAAAAAAAAQAAAAAAAAAGAQMAAQAAAAAAAAABAAAAAAAAABEBBAABAAAAAAAAANQAAAAAAAAAFgEEAAEA
                AAAAAAAABQAAAAAAAAAXAQQAAQAAAAAAAAA8AAAAAAAAABwBAwABAAAAAAAAAAEAAAAAAAAAAAAAAAAAAACAgICAgICAgICAgICA
                gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIA=
                """),
        ImageSample(
            "big-endian TIFF", .tiff, 5, 3,
            base64: """
                TU0AKgAAAAgACQEAAAQAAAABAAAABQEBAAQAAAABAAAAAwECAAMAAAABABAAAAEDAAMAAAABAAEAAAEGAAMAAAABAAEAAAERAAQA
                AAABAAAAegEWAAQAAAABAAAAAwEXAAQAAAABAAAAHgEcAAMAAAABAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
                AAA=
                """),
        ImageSample(
            "ICNS of PNG pictures", .icns, 32, 32,
            base64: """
                aWNucwAAANxpY3A0AAAAXolQTkcNChoKAAAADUlIRFIAAAAQAAAAEAgGAAAAH/P/YQAAAB1JREFUeJxjlJtwYgsDBYCJEs2jBowa
                MGrAYDIAAAnRAkpKKqfhAAAAAElFTkSuQmCCaWMxMQAAAHaJUE5HDQoaCgAAAA1JSERSAAAAIAAAACAIBgAAAHN6evQAAAA1SURB
                VHic7c5BAQAwCMSwY0KmeWIQMVnI4JMaaOq+31nsbM4BAAAAAAAAAAAAAAAAAACSZAD1FgJq9rVnWQAAAABJRU5ErkJggg==
                """),
        ImageSample(
            "ICNS of packed pixels", .icns, 16, 16,
            base64: """
                aWNucwAAASRpczMyAAAAFP8e+x7/kPuQ/8j7yHM4bWsAAAEItLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0
                tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0
                tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0
                tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tA==
                """),
    ]
}
